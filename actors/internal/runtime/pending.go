package runtime

import (
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Pending is a nested call.
type Pending struct {
	attempt *Attempt
	id      record.ID
	target  record.Address
	method  string
	// revocable calls are revoked when an Await is cut short.
	revocable bool
	revoked   bool // under attempt.mu, as done and result
	done      bool
	result    record.Result
}

// Go makes a nested call. It is sent by the first Await of any call after it;
// calls made before that share one record (A85). Of its target Type and Actor
// are enough; ID is made here; Name, where it is empty, is the ordinal of the
// call within the link.
func (a *Attempt) Go(c record.Call) (*Pending, error) {
	if depth := a.inc.typ.Depth; len(a.request.Ancestors) >= depth {
		return nil, fmt.Errorf("%w: %d deep", ErrDepth, depth)
	}
	if err := a.address(&c.Target); err != nil { // before it is on record: what cannot be delivered must not be (H20)
		return nil, err
	}
	c.ID = a.inc.ids.next()
	p := &Pending{attempt: a, id: c.ID, target: c.Target, method: c.Method}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return nil, err
	}
	if a.activating {
		return nil, fmt.Errorf("%w: Activate must not call", ErrBusy)
	}
	a.name(&c)
	size := sizeOf(&c) + 16*len(a.request.Ancestors)
	err := a.add(size, func(b *buffer) {
		b.calls = append(b.calls, c)
		b.size += size
	})
	if err != nil {
		return nil, err
	}
	a.pending = append(a.pending, p)
	return p, nil
}

// label is what is called, for people.
func (p *Pending) label() string { return p.target.Type + "/" + p.target.Actor + "." + p.method }

// arrived notes the result of a call.
func (a *Attempt) arrived(child record.ID, result record.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, p := range a.pending {
		if p.id == child {
			p.result, p.done = result, true
			a.pending = slices.Delete(a.pending, i, i+1)
			return
		}
	}
}
