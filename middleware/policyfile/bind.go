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
// cannot be applied the observer is told, as [PolicyNotApplied], and so is a name
// that the file does not have. A target that goes changes nothing.
func (l *Live) Bind(name string, to ...Applier) (cancel func()) {
	apply := binding(l, to, func() (middleware.Target, string, bool) {
		t, ok := l.Policies().Lookup(name)
		return t, name, ok
	})
	_, cancel = l.Subscribe(name, func(middleware.Target) { apply() })
	if p := l.Policies(); p.targets[name] == nil {
		l.emit(context.Background(), name, backstay.Event{Kind: PolicyNotApplied, Err: p.unknown(name)})
	}
	apply()
	return cancel
}

// ServerApplier is what takes another server while it works: an httpmw.Handler,
// or a grpcmw.Server.
type ServerApplier interface {
	Apply(s middleware.Server) error
}

// BindServer keeps what was built from the server up to date, until cancel is
// called, in the manner of [Live.Bind].
//
//	handler, err := httpmw.NewHandler(mux, live.Server())
//	if err != nil {
//		return err
//	}
//	defer live.BindServer(handler)()
//
// The name of a server, and whether it has a store, are fixed: a version that
// changes them is told as [PolicyNotApplied], and none of it is in force; see
// middleware.Entrance.Apply. A section that goes changes nothing.
func (l *Live) BindServer(to ...ServerApplier) (cancel func()) {
	apply := binding(l, to, func() (middleware.Server, string, bool) {
		s, ok := l.Policies().LookupServer()
		return s, s.Name, ok
	})
	_, cancel = l.SubscribeServer(func(middleware.Server) { apply() })
	apply()
	return cancel
}

// binding returns what applies the newest version, whoever calls it last, and
// tells what cannot be applied.
func binding[T any, A interface{ Apply(T) error }](l *Live, to []A, newest func() (is T, name string, ok bool)) (apply func()) {
	var mu sync.Mutex
	return func() {
		mu.Lock()
		defer mu.Unlock()
		is, name, ok := newest()
		if !ok {
			return
		}
		for _, a := range to {
			if err := a.Apply(is); err != nil {
				l.emit(context.Background(), name, backstay.Event{Kind: PolicyNotApplied, Err: err})
			}
		}
	}
}
