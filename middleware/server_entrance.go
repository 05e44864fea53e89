package middleware

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// Entrance has the [Admission] in force of a [Server] that may change while
// requests go on. It is for protocols, and safe for concurrent use.
type Entrance struct {
	store   idempotency.Store
	current atomic.Pointer[Admission]

	mu      sync.Mutex // held while a Server is put in force
	closed  bool
	retired []weak.Pointer[Admission] // earlier ones, by which requests may still go
}

// NewEntrance returns an Entrance whose Admission is that of s, or every fault
// of the configuration; see [NewAdmission].
func NewEntrance(s Server, store idempotency.Store, o backstay.Observer) (*Entrance, error) {
	a, err := NewAdmission(s, store, o)
	if err != nil {
		return nil, err
	}
	e := &Entrance{store: store}
	e.current.Store(a)
	return e, nil
}

// Now returns the Admission in force. A request asks once, and goes by it to
// its end.
func (e *Entrance) Now() *Admission { return e.current.Load() }

// Apply puts s in force for the requests that come from now on. What its
// sections leave equal keeps its state: the bulkhead its limit and what is in
// flight, the timeout the handlers that outlasted it. A bulkhead whose section
// differs begins afresh, and does not count what the old one has in flight.
//
// The error has every fault of s, and nothing has changed. Two things are fixed
// when a server is built, and make a fault where they would have to change: its
// name, and whether there is a store for idempotency keys.
func (e *Entrance) Apply(s Server) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.Now()
	if reflect.DeepEqual(s, was.server) {
		return nil
	}
	if e.closed {
		return fmt.Errorf("middleware: server %s is closed, and takes no other policies", was.scope.Name())
	}
	if err := sameName(s.Name, was.server.Name); err != nil {
		return err
	}
	next, err := newAdmission(s, e.store, was)
	if err != nil {
		return err
	}
	e.current.Store(next)
	e.retired = retire(e.retired, was)
	return nil
}

// Statuses returns the state of the server in force: its name and its bulkhead.
// It has the shape of [Registry.Statuses], for those who measure.
func (e *Entrance) Statuses() []Status {
	a := e.Now()
	return []Status{{Name: a.scope.Name(), Bulkhead: bulkheadStatus(a.bulkhead)}}
}

// Close waits for handlers that have outlasted their timeout, under any Server
// that was in force, or until ctx ends; see [Admission.Close].
func (e *Entrance) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	all := []*Admission{e.Now()}
	for _, p := range e.retired {
		if a := p.Value(); a != nil {
			all = append(all, a)
		}
	}
	e.mu.Unlock()
	var faults error
	for _, a := range all {
		faults = errors.Join(faults, a.Close(ctx))
	}
	return faults
}
