package main

import (
	"math/rand/v2"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// Services call one another in a row, each with three attempts, and the last
// one is down. How many attempts reach it for one call of a user?

const (
	userCalls    = 1000
	betweenCalls = 5 * time.Millisecond
	deepest      = 5
)

// manner is a way to retry.
type manner struct {
	name   string
	budget retry.BudgetConfig
	nested bool // retries also where a layer above retries already
}

var manners = []manner{
	{"no budget", retry.NoBudget, true},
	{"no budget, one layer retries", retry.NoBudget, false},
	{"budget", retry.BudgetConfig{}, true},
}

// layersStudy is, for each manner, how many attempts reached the last service
// behind 1, 2, ... layers.
type layersStudy map[string][]int

func studyLayers(seed uint64) (layersStudy, error) {
	study := make(layersStudy)
	for _, m := range manners {
		for layers := 1; layers <= deepest; layers++ {
			reached, err := amplify(m, layers, rand.New(rand.NewPCG(seed, uint64(layers))))
			if err != nil {
				return nil, err
			}
			study[m.name] = append(study[m.name], reached)
		}
	}
	return study, nil
}

// layer is a service with a retry around its calls to the next one. The last
// one has no policy, and is down.
type layer struct {
	engine *engine
	lot    *rand.Rand
	policy *retry.Policy
	next   *layer
	served int
}

// amplify returns how many attempts reach what is behind the layers.
func amplify(m manner, layers int, lot *rand.Rand) (int, error) {
	e := new(engine)
	down := &layer{engine: e}
	first := down
	for range layers {
		p, err := retry.New(retry.Config{Budget: m.budget, RetryNested: m.nested})
		if err != nil {
			return 0, err
		}
		first = &layer{engine: e, lot: lot, policy: p, next: first}
	}
	for i := range userCalls {
		e.after(time.Duration(i)*betweenCalls, func() { first.serve(false, func(backstay.Outcome) {}) })
	}
	e.run(forever)
	return down.served, nil
}

// serve answers a request, which a layer above may be repeating.
func (l *layer) serve(repeated bool, answer func(backstay.Outcome)) {
	l.served++
	if l.next == nil {
		answer(backstay.Outcome{Class: backstay.Transient})
		return
	}
	l.policy.Budget().Deposit(l.engine.instant())
	l.attempt(1, repeated, answer)
}

// attempt makes attempt n of the call to the next layer. The policy decides
// whether another follows, and its budget whether that can be paid for.
func (l *layer) attempt(n int, repeated bool, answer func(backstay.Outcome)) {
	l.next.serve(repeated || n > 1, func(o backstay.Outcome) {
		d := l.policy.Next(retry.State{
			Attempt: n, Outcome: o, Nested: repeated, Backoff: l.policy.Backoff(n, l.lot.Uint64()),
		})
		if !d.Retry || !l.policy.Budget().TrySpendAt(l.engine.instant()) {
			answer(o)
			return
		}
		l.engine.after(d.Wait, func() { l.attempt(n+1, repeated, answer) })
	})
}
