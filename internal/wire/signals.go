package wire

import "strings"

// Getter looks headers up; http.Header is one. A nil result means that there
// is no such header.
type Getter interface {
	Values(name string) []string
}

// Signals is what the headers of an answer say about another attempt, whatever
// layer wrote them.
type Signals struct {
	// Final: do not retry.
	Final bool
	// Unsent: the request never reached the application, and is safe to repeat.
	Unsent bool
	// Overload: the server asks to be spared.
	Overload bool
}

// ReadSignals reads the signals in h. Of repeated headers one that speaks is
// enough: each is an appeal, and nothing in it can be retracted.
func ReadSignals(h Getter) Signals {
	_, retry, pushed := Pushback(h.Values(HeaderGRPCPushback))
	return Signals{
		Final: pushed && !retry || has(h, HeaderEnvoyRateLimited) ||
			is(h, HeaderShouldRetry, "false") || is(h, HeaderRetry, RetryNever),
		Unsent:   is(h, HeaderLinkerdRetryable, "true"),
		Overload: has(h, HeaderEnvoyOverloaded),
	}
}

func has(h Getter, name string) bool { return len(h.Values(name)) > 0 }

func is(h Getter, name, word string) bool {
	for _, v := range h.Values(name) {
		if strings.EqualFold(trim(v), word) {
			return true
		}
	}
	return false
}
