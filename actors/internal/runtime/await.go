package runtime

import (
	"context"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// wait is a thread of a method that is inside Await.
type wait struct {
	pending *Pending
	resume  chan struct{} // holds one
	given   bool          // of the loop: its context has ended, it wants no result
	over    bool          // set before resume: the attempt is over
}

// Await waits for the result. It may be called again, also after ctx has cut
// it short: the call goes on, and the method's step waits for it. While a
// callback runs on the actor it does not return, whatever ctx says: two
// invocations would be on the actor (H6).
func (p *Pending) Await(ctx context.Context) (record.Result, error) {
	a := p.attempt
	a.mu.Lock()
	if err := a.open(); err != nil {
		a.mu.Unlock()
		return record.Result{}, err
	}
	if p.done && !a.covered { // nothing is above it: go on at once
		a.mu.Unlock()
		return p.result, nil
	}
	a.active--
	a.mu.Unlock()
	w := &wait{pending: p, resume: make(chan struct{}, 1)}
	if a.inc.give(w) {
		a.inc.assist(nil)
	}
	select {
	case <-w.resume:
	case <-a.inc.gone:
		return record.Result{}, a.inc.lost()
	case <-ctx.Done():
		if err := w.withdraw(); err != nil {
			return record.Result{}, err
		}
	}
	if w.over {
		return record.Result{}, ErrOver
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !p.done {
		return record.Result{}, context.Cause(ctx)
	}
	return p.result, nil
}

// withdraw asks to go on without the result.
func (w *wait) withdraw() error {
	inc := w.pending.attempt.inc
	inc.post((*withdrawal)(w))
	select {
	case <-w.resume:
		return nil
	case <-inc.gone:
		return inc.lost()
	}
}

type withdrawal wait

func (w *withdrawal) happen(inc *incarnation) {
	w.given = true
	if w.pending.revocable {
		w.pending.attempt.revoke(w.pending)
	}
	inc.touch(w.pending.attempt.slot.actor)
}

func (w *wait) happen(inc *incarnation) {
	a := w.pending.attempt
	if a.came { // a goroutine that was left behind
		w.over = true
		w.resume <- struct{}{}
		return
	}
	a.waits = append(a.waits, w)
	inc.touch(a.slot.actor)
}

// advance takes the attempt on, as far as it can go: what waits is recorded
// first, then threads are resumed, then the end is recorded.
func (a *Attempt) advance() {
	if a.flying {
		return
	}
	if a.came {
		a.close()
		return
	}
	if len(a.waits) > 0 && a.flush() || !a.onTop() {
		return
	}
	a.resume()
}

// onTop reports whether no invocation is above this one on its actor's stack.
func (a *Attempt) onTop() bool {
	e := a.inc.state.Lookup(a.request.ID)
	return e != nil && a.inc.view.Resumes(e, nil)
}

// flush records what the attempt has in its hands, calls and changes, before it
// waits (H18). It reports whether there was something.
func (a *Attempt) flush() bool {
	data := a.unload()
	if data == nil {
		return false
	}
	a.launch(data, (*unloaded)(a))
	return true
}

// unload takes what the attempt has in its hands, encoded; nil if that is nothing.
func (a *Attempt) unload() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := &a.buffer
	if b.idle() {
		return nil
	}
	n, delta := a.calls, b.changes()
	a.calls++
	if len(b.calls) == 0 {
		return encode(&record.Write{Epoch: a.inc.epoch, Link: a.request.Link, Call: n, Delta: delta})
	}
	data := encode(&record.Issued{Epoch: a.inc.epoch, Link: a.request.Link, Call: n, Children: b.calls, Delta: delta})
	b.calls = emptied(b.calls)
	return data
}

// unloaded is an attempt whose hands are empty when the record is applied.
type unloaded Attempt

func (u *unloaded) landed(machine.Void) {
	a := (*Attempt)(u)
	a.alight()
	a.advance()
}

// fly appends a record of the attempt; then happens when it is applied.
func (a *Attempt) fly(r record.Record, then func()) {
	a.launch(encode(r), landing(func(machine.Void) {
		a.alight()
		then()
	}))
}

// resume lets threads go on whose calls are answered, as applied, now that the
// attempt is on top of its actor's stack (H6).
func (a *Attempt) resume() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.covered = false
	if len(a.waits) == 0 {
		return
	}
	rest := a.waits[:0]
	for _, w := range a.waits {
		if !w.pending.done && !w.given {
			rest = append(rest, w)
			continue
		}
		a.active++
		w.resume <- struct{}{}
	}
	clear(a.waits[len(rest):])
	a.waits = rest
}
