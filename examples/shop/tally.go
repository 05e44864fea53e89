package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// tally counts what an observer is told, by the names of targets and servers.
type tally struct {
	mu   sync.Mutex
	of   map[string]*counts
	news strings.Builder // of the policy file
}

// counts are those of one name.
type counts struct {
	sent     int // calls of which at least one attempt was
	attempts int // and hedged copies
	copies   int
	refused  int
	degraded int // answered by a fallback
	opened   int // the breaker
	replayed int // answers of keyed work that were given again
}

// Observe counts e.
func (t *tally) Observe(_ context.Context, e backstay.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind { //nolint:exhaustive // of the file alone
	case middleware.PolicyAdded, middleware.PolicyChanged:
		fmt.Fprintf(&t.news, "  policies.yaml: %s has other policies from now on\n", e.Policy)
	case middleware.PolicyRemoved:
		fmt.Fprintf(&t.news, "  policies.yaml: %s is gone\n", e.Policy)
	case middleware.PoliciesRefused, middleware.PolicyNotApplied:
		fmt.Fprintf(&t.news, "  policies.yaml: %v\n", e.Err)
	}
	if t.of == nil {
		t.of = make(map[string]*counts)
	}
	c := t.of[e.Policy]
	if c == nil {
		c = new(counts)
		t.of[e.Policy] = c
	}
	c.count(e)
}

func (c *counts) count(e backstay.Event) {
	switch e.Kind {
	case backstay.CallDone:
		if e.Attempt > 0 {
			c.sent++
		}
	case backstay.AttemptDone:
		c.attempts++
	case backstay.HedgeStarted:
		c.copies++
	case backstay.CallRejected:
		c.refused++
	case backstay.FallbackUsed:
		c.degraded++
	case backstay.BreakerChanged:
		if e.To == "open" && e.From == "closed" {
			c.opened++
		}
	case idempotency.KeyReplayed:
		c.replayed++
	default: // of no interest here
	}
}

// takeNews returns what is new about the policy file, in lines.
func (t *tally) takeNews() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.news.Reset()
	return t.news.String()
}

// get returns the counts of name.
func (t *tally) get(name string) counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.of[name]; c != nil {
		return *c
	}
	return counts{}
}

// amplification is how many requests the backend gets for each call.
func (c counts) amplification() float64 {
	if c.sent == 0 {
		return 1
	}
	return float64(c.attempts) / float64(c.sent)
}
