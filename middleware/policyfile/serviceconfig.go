package policyfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// ImportServiceConfig reads the retries, hedging and timeouts of a gRPC service
// config, in JSON, as policies: one target for each entry of its methodConfig,
// called after the first method that the entry is for. What it has no word for
// is left to gRPC. The notes say what could not be carried over, or means
// something else here.
//
//   - timeout becomes deadline.total: both bound the whole call.
//   - retryPolicy becomes retry; waits are fully jittered here.
//   - retryThrottling becomes the retry budget of every target.
//   - hedgingPolicy becomes hedge.
//   - A method that has one of the two is idempotent: that is how gRPC takes it.
//
// The error is an [*Error], if the document is not one of a service config.
func ImportServiceConfig(name string, data []byte) (*Policies, []Note, error) {
	i := &importer{reader: &reader{faults: faults{file: name}}}
	n := i.document(data)
	if n == nil {
		return nil, nil, i.err()
	}
	p := i.serviceConfig(n)
	if err := i.err(); err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(i.notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	p.notes = i.notes
	return p, append([]Note(nil), i.notes...), nil
}

// importer reads a service config.
type importer struct {
	*reader
	notes  []Note
	budget *retry.BudgetConfig // of retryThrottling; nil if there is none
	from   origin              // where that stands
}

func (i *importer) note(at spot, format string, args ...any) {
	i.notes = append(i.notes, Note{File: i.file, Line: at.line, Column: at.column, Path: at.path, Text: fmt.Sprintf(format, args...)})
}

func (i *importer) serviceConfig(n *yaml.Node) *Policies {
	p := &Policies{file: i.file, targets: map[string]*resolved{}, defined: map[string]*definition{}}
	var methods []entry
	for _, e := range i.entries(n, "") {
		switch e.name {
		case "methodConfig":
			methods = append(methods, e)
		case "retryThrottling":
			i.throttling(e)
		default:
			i.note(e.key, "not carried over: it is for gRPC itself")
		}
	}
	var targets []*definition
	for _, e := range methods {
		for k, item := range i.items(e.value) {
			d, t := i.method(item, fmt.Sprintf("%s[%d]", e.key.path, k))
			if d.name != "" && p.targets[d.name] == nil {
				p.targets[d.name], p.defined[d.name] = t, d
				targets = append(targets, d)
			}
		}
	}
	if len(targets) == 0 && len(i.all) == 0 {
		i.add(where(n, "methodConfig"), "", "there are no methods: nothing becomes a policy")
	}
	p.index = newIndex(i.sorted(targets), p.targets)
	return p
}

// method reads one entry of methodConfig.
func (i *importer) method(n *yaml.Node, path string) (*definition, *resolved) {
	d := &definition{at: where(n, path), extends: none}
	t := resolvedTarget(&middleware.Target{}, none)
	for _, e := range i.entries(n, path) {
		switch e.name {
		case "name":
			i.methodNames(d, e)
		case "timeout":
			t.Target.Deadline = &deadline.Config{}
			i.set(t, "deadline.total", e)
		case "retryPolicy":
			i.retryPolicy(t, e)
		case "hedgingPolicy":
			i.hedgingPolicy(t, e)
		default:
			i.note(e.key, "not carried over: it stays with gRPC's own service config")
		}
	}
	t.Target.Name = d.name
	if t.Target.Retry != nil && i.budget != nil {
		t.Target.Retry.Budget = *i.budget
		t.origins["retry.budget"] = i.from
	}
	i.check(t, d)
	return d, t
}

// methodNames reads what an entry is for.
func (i *importer) methodNames(d *definition, e entry) {
	for k, item := range i.items(e.value) {
		path := fmt.Sprintf("%s[%d]", e.key.path, k)
		p := pattern{at: where(item, path), host: "*"}
		for _, part := range i.entries(item, path) {
			switch part.name {
			case "service":
				p.service, _ = scalar(part.value)
			case "method":
				p.rpc, _ = scalar(part.value)
			default:
				i.add(part.key, suggest(part.name, []string{"service", "method"}), "unknown key")
			}
		}
		if p.service == "" && p.rpc != "" {
			i.add(p.at, "write service, too", "a method without a service")
		}
		d.patterns = append(d.patterns, p)
		if d.name == "" {
			d.name = "all"
			if p.service != "" {
				d.name = strings.TrimSuffix(p.grpcName(), "/*")
			}
		}
	}
}

func (i *importer) retryPolicy(t *resolved, e entry) {
	t.Target.Retry = &retry.Config{}
	i.repeatable(t, e)
	t.origins["retry"] = origin{spot: e.spot()}
	for _, f := range i.entries(e.value, e.key.path) {
		switch f.name {
		case "maxAttempts":
			i.set(t, "retry.max_attempts", f)
			if t.Target.Retry.MaxAttempts > 5 {
				i.note(f.spot(), "gRPC makes 5 attempts at most; here it is %d", t.Target.Retry.MaxAttempts)
			}
		case "initialBackoff":
			i.set(t, "retry.base", f)
		case "maxBackoff":
			i.set(t, "retry.cap", f)
		case "backoffMultiplier":
			i.set(t, "retry.multiplier", f)
		case "retryableStatusCodes":
			i.codes(f, "retried", "UNAVAILABLE, and RESOURCE_EXHAUSTED where the server names a wait")
		default:
			i.add(f.key, suggest(f.name, []string{"maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"}), "unknown key")
		}
	}
	if c := t.Target.Retry; c.Base > 0 && c.Cap > 0 && c.Base > c.Cap {
		c.Base = c.Cap // as gRPC has it
		i.note(e.spot(), "initialBackoff is above maxBackoff, which bounds it")
	}
	i.note(e.spot(), "waits are uniform between 0 and the backoff, not within 20%% of it")
}

// repeatable marks the target: in a service config a policy is the statement
// that its methods may be called twice.
func (i *importer) repeatable(t *resolved, e entry) {
	t.Target.Idempotent = true
	t.origins["idempotent"] = origin{spot: e.spot()}
}

func (i *importer) hedgingPolicy(t *resolved, e entry) {
	t.Target.Hedge = &hedge.Config{}
	i.repeatable(t, e)
	t.origins["hedge"] = origin{spot: e.spot()}
	for _, f := range i.entries(e.value, e.key.path) {
		switch f.name {
		case "maxAttempts":
			i.copies(t, f)
		case "hedgingDelay":
			if s, _ := scalar(f.value); s == "0s" {
				i.note(f.spot(), "copies are never sent all at once; the delay is the live percentile")
				continue
			}
			i.set(t, "hedge.delay", f)
		case "nonFatalStatusCodes":
			i.codes(f, "taken for a copy that others may still beat", "UNAVAILABLE, and RESOURCE_EXHAUSTED")
		default:
			i.add(f.key, suggest(f.name, []string{"maxAttempts", "hedgingDelay", "nonFatalStatusCodes"}), "unknown key")
		}
	}
	if t.Target.Hedge.Delay == 0 {
		i.note(e.spot(), "no hedgingDelay: the delay is the live percentile, not none")
	}
	i.note(e.spot(), "copies are bounded to 5%% of the calls by hedge.budget")
}

// copies reads how many copies there are, of which gRPC counts the first.
func (i *importer) copies(t *resolved, e entry) {
	n, wrong := whole(2, 11, "", "").measure(e.value)
	if wrong != nil {
		i.add(e.spot(), wrong.suggestion, "%s", wrong.reason)
		return
	}
	t.Target.Hedge.MaxCopies = int(n) - 1
	t.origins["hedge.max_copies"] = origin{spot: e.spot()}
}

// codes notes where the status codes of a list are not those of the classes.
func (i *importer) codes(e entry, are, here string) {
	i.note(e.spot(), "status codes are not configured: %s are those of class transient or overload (%s); a classifier in code may differ", are, here)
}

// set reads the value of e into path. Durations of gRPC are those of JSON
// protobuf, such as "1.5s", which files have, too.
func (i *importer) set(t *resolved, path string, e entry) {
	s := root.under(path)
	if s.kind == duration {
		if text, ok := scalar(e.value); ok && !isProtoDuration(text) {
			i.add(e.spot(), `such as "0.25s"`, "%s is not a duration of a service config", quote(text))
			return
		}
	}
	n, wrong := s.measure(e.value)
	if wrong != nil {
		i.add(e.spot(), wrong.suggestion, "%s", wrong.reason)
		return
	}
	s.setNumber(t.in(s), n)
	t.origins[path] = origin{spot: e.spot()}
}

func isProtoDuration(s string) bool {
	digits, seconds := strings.CutSuffix(s, "s")
	_, ok := decimal(digits)
	return seconds && ok
}

// throttling reads the budget that gRPC keeps for a server name: maxTokens,
// refilled by tokenRatio with each success and emptied by one with each
// failure; retries stop at half of it.
func (i *importer) throttling(e entry) {
	c := retry.BudgetConfig{}
	for _, f := range i.entries(e.value, e.key.path) {
		switch f.name {
		case "maxTokens":
			if n, ok := i.number(f, 1, 1000); ok {
				c.Burst = max(1, int(n/2))
			}
		case "tokenRatio":
			if n, ok := i.number(f, 0.001, 1); ok {
				c.Ratio = n
			}
		default:
			i.add(f.key, suggest(f.name, []string{"maxTokens", "tokenRatio"}), "unknown key")
		}
	}
	i.budget, i.from = &c, origin{spot: e.spot()}
	i.note(e.spot(), "becomes retry.budget: calls earn retries whether they succeed or not, %s of them unearned, and what is earned expires after %s",
		strconv.Itoa(c.Burst), writeDuration(retry.DefaultWindow))
}

func (i *importer) number(e entry, low, high float64) (float64, bool) {
	n, wrong := factor(low, high, "", "").measure(e.value)
	if wrong != nil {
		i.add(e.spot(), wrong.suggestion, "%s", wrong.reason)
	}
	return n, wrong == nil
}
