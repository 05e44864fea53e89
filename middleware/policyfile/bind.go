package policyfile

import (
	"context"
	"sync"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// Applier is what takes another target while it works: a middleware.Registry,
// which the Pipelines methods of the protocols return, or a
// middleware.Pipeline.
type Applier interface {
	Apply(t middleware.Target) error
}

// Bind keeps what was built from the target called name up to date, until
// cancel is called: what it is now is applied at once, and every change when
// it comes.
//
//	transport, err := httpmw.NewTransport(nil, live.Target("payments"))
//	if err != nil {
//		return err
//	}
//	defer live.Bind("payments", transport.Pipelines())()
//
// State of what does not change is kept; see middleware.Registry.Apply. What
// cannot be applied the observer is told, as [PolicyNotApplied]. A target that
// goes changes nothing.
func (l *Live) Bind(name string, to ...Applier) (cancel func()) {
	var mu sync.Mutex
	apply := func() {
		mu.Lock()
		defer mu.Unlock()
		t, ok := l.Policies().Lookup(name) // the newest, whoever calls last
		if !ok {
			return
		}
		for _, a := range to {
			if err := a.Apply(t); err != nil {
				l.emit(context.Background(), name, backstay.Event{Kind: PolicyNotApplied, Err: err})
			}
		}
	}
	_, cancel = l.Subscribe(name, func(middleware.Target) { apply() })
	apply()
	return cancel
}
