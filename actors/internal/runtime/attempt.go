package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/internal/lazyctx"
	"github.com/backstay-go/backstay/internal/wire"
)

// Attempt is one run of a method. Its methods may be called from several
// goroutines, but the method as a whole counts as one thread: while it is
// inside [Pending.Await] its actor lets in what its own calls call back. After
// the method has returned everything fails with [ErrOver] (A16).
type Attempt struct {
	inc     *incarnation
	slot    *slot
	request record.Request
	number  uint64
	// instance is set before the method runs.
	instance any
	ctx      lazyctx.Ctx // of the method

	// Of the loop.
	came     bool // the end of the method has come to it
	revoking bool // an appointment is made to revoke calls

	interrupted atomic.Bool // who waits for it has revoked it

	mu         sync.Mutex
	over       bool // the gate: nothing more comes from the method (H13)
	activating bool
	covered    bool // a callback runs on the actor

	*workspace // nil once the Step is applied
}

// resolving stands in for an attempt where there is none, but an end is
// appended and not applied (H8).
var resolving = new(Attempt)

// phase is where the attempt is, for admission.
func (a *Attempt) phase() machine.Phase {
	switch {
	case a == resolving:
		return machine.Resolving
	case a.flying:
		return machine.Running
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if (a.active <= 0 || a.over) && a.buffer.idle() {
		return machine.Parked
	}
	return machine.Running
}

// cover marks the attempt as one that a callback runs above of.
func (a *Attempt) cover() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.covered = a.buffer.idle()
	return a.covered
}

// Request is what is to be done. It must not be changed.
func (a *Attempt) Request() *record.Request { return &a.request }

// Number is that of the attempt, 1 for the first of its link.
func (a *Attempt) Number() uint64 { return a.number }

// Epoch is the fencing token: it grows with every owner of the partition. It is
// that of the incarnation that began the attempt, for ever (H17).
func (a *Attempt) Epoch() uint64 { return a.inc.epoch }

// Instance is what the type's Activate made, or nil.
func (a *Attempt) Instance() any { return a.instance }

// Now is the time by the log's clock as far as it is known here, in
// milliseconds since 1970: what reminders and NotBefore are compared with.
func (a *Attempt) Now() int64 { return a.inc.node.clock.now() }

// Key is the idempotency key for what the method does outside under that name:
// the same on every retry of this link (A77).
func (a *Attempt) Key(name string) string {
	return machine.ChildKey(&machine.Entry{Request: a.request}, name)
}

// Cell returns a value of the actor's state, with what the attempt has changed.
// It must not be changed.
func (a *Attempt) Cell(_ context.Context, name string) ([]byte, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return nil, false, err
	}
	if c, cleared := a.buffer.cell(name); c != nil {
		return c.Value, !c.Removed, nil
	} else if cleared {
		return nil, false, nil
	}
	a.inc.guard.RLock()
	defer a.inc.guard.RUnlock()
	value, ok := a.inc.state.Cell(a.request.Target.Actor, name)
	return value, ok, nil
}

// Cells returns the cells whose names begin with prefix, sorted by name, with
// what the attempt has changed. Values must not be changed.
func (a *Attempt) Cells(_ context.Context, prefix string) ([]record.Cell, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return nil, err
	}
	a.inc.guard.RLock()
	applied := a.inc.state.Cells(a.request.Target.Actor, prefix)
	a.inc.guard.RUnlock()
	return a.buffer.over(applied, prefix), nil
}

// open reports why nothing can be done any more, nil if it can. mu is held.
func (a *Attempt) open() error {
	if a.over {
		return ErrOver
	}
	return a.inc.lost()
}

// lost reports whether the incarnation has ended.
func (inc *incarnation) lost() error {
	select {
	case <-inc.gone:
		return fmt.Errorf("%w: %w", ErrOver, ErrLost)
	default:
		return nil
	}
}

// change lets do change the buffer, if the attempt may change its actor and the
// size stays within bounds.
func (a *Attempt) change(size int, do func(b *buffer)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return err
	}
	if a.covered {
		return ErrBusy
	}
	return a.add(size, do)
}

// add lets do add to the buffer. mu is held.
func (a *Attempt) add(size int, do func(b *buffer)) error {
	if limit := a.inc.node.config.MaxRecord; a.buffer.size+size > limit {
		return fmt.Errorf("%w: a record of %s has %d bytes already, and another %d would exceed %d", ErrTooLarge, a.request.Target.Type, a.buffer.size, size, limit)
	}
	do(&a.buffer)
	return nil
}

// Set changes a cell, with the next record of this attempt. It takes value over.
func (a *Attempt) Set(name string, value []byte) error {
	if name == "" {
		return errNameless
	}
	return a.change(len(name)+len(value), func(b *buffer) { b.write(record.Cell{Name: name, Value: value}) })
}

// Remove removes a cell, with the next record of this attempt.
func (a *Attempt) Remove(name string) error {
	if name == "" {
		return errNameless
	}
	return a.change(len(name), func(b *buffer) { b.write(record.Cell{Name: name, Removed: true}) })
}

// errNameless: what has no name cannot be told from what is not there.
var errNameless = errors.New("runtime: a cell, a reminder and a topic need a name")

// Clear removes all cells and reminders of the actor, with the next record of
// this attempt; its instance goes when that is applied (A11).
func (a *Attempt) Clear() error {
	return a.change(0, func(b *buffer) { b.clear() })
}

// Remind sets a reminder, or removes it where Next is 0, with the next record
// of this attempt. Next is by the clock of [Attempt.Now]; Period is empty, a Go
// duration, or a line of package cron (else [ErrPeriod]).
func (a *Attempt) Remind(r record.Reminder) error {
	if r.Name == "" {
		return errNameless
	}
	if err := checkPeriod(r.Period); err != nil {
		return err
	}
	return a.change(len(r.Name)+len(r.Args)+len(r.Baggage), func(b *buffer) { b.remind(r) })
}

// Tell sends a request that nobody waits for, with the step. Of its target
// Type and Actor are enough, ID is made here.
func (a *Attempt) Tell(c record.Call) error {
	if err := a.address(&c.Target); err != nil {
		return err
	}
	c.ID = a.inc.ids.next()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return err
	}
	a.name(&c)
	return a.add(sizeOf(&c), func(b *buffer) {
		b.tells = append(b.tells, c)
		b.size += sizeOf(&c)
	})
}

// Publish sends a message to an ordinary topic, with the step.
func (a *Attempt) Publish(p record.Posted) error {
	if p.Topic == "" {
		return errNameless
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return err
	}
	return a.add(len(p.Value), func(b *buffer) {
		a.identify(&p, len(b.letters)+1)
		b.letters = append(b.letters, p)
		b.size += len(p.Value)
	})
}

// identify gives a letter its id, if it has none: the same in every copy, in
// every attempt that publishes the same, and in no other letter.
func (a *Attempt) identify(p *record.Posted, ordinal int) {
	for _, h := range p.Headers {
		if h.Name == wire.MessageID {
			return
		}
	}
	id := a.Key("backstay publish #" + strconv.Itoa(ordinal))
	p.Headers = append(slices.Clip(p.Headers), record.Attribute{Name: wire.MessageID, Value: []byte(id)})
}

// name gives a call its ordinal, if it has no name: it is the same in every
// attempt that makes the same calls. mu is held.
func (a *Attempt) name(c *record.Call) {
	a.ordinal++
	if c.Name == "" {
		c.Name = "#" + strconv.Itoa(a.ordinal)
	}
}

// address completes an actor's address.
func (a *Attempt) address(to *record.Address) error {
	n, err := a.inc.node.countNow(to.Type)
	if err != nil {
		return err
	}
	to.Index = record.PartitionOf(to.Actor, n)
	return nil
}
