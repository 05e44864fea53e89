package hedge

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/backstay-go/backstay"
)

// fire sends the next copy because the delay has passed. It is the timer's
// goroutine, which becomes the copy's.
func (r *race[Q, R]) fire(ctx context.Context) {
	returned := false
	defer func() {
		if !returned {
			r.crashed(ctx, nil, recover())
		}
	}()
	if l := r.admit(ctx); l != nil {
		r.carry(ctx, l)
	}
	returned = true
}

// sendNow sends the next copy because one has failed.
func (r *race[Q, R]) sendNow(ctx context.Context) {
	if l := r.admit(ctx); l != nil {
		go r.carry(ctx, l)
	}
}

// admit makes the lane of the next copy, or returns nil where there is to be
// none. What it asks may be the user's, so it asks outside mu.
func (r *race[Q, R]) admit(ctx context.Context) *lane[R] {
	p := r.policy
	sent, over := r.progress()
	if over || ctx.Err() != nil {
		return nil
	}
	s := p.State()
	s.Copies = sent
	if _, ok := p.Plan(s); !ok || !p.spend() {
		return nil
	}
	if !p.late.Add() {
		p.refund()
		return nil
	}
	l := new(lane[R])
	r.enter(ctx, l, sent+1, backstay.Now())
	if !r.join(l) {
		p.late.Done()
		p.refund()
		return nil
	}
	return l
}

// progress returns how many copies were sent, and whether the race is over.
func (r *race[Q, R]) progress() (sent int, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return 1 + len(r.later), r.over
}

// join adds a copy to the race, unless it is over or another copy was quicker
// to be the next. It winds the timer for the one after.
func (r *race[Q, R]) join(l *lane[R]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || l.number != 2+len(r.later) {
		return false
	}
	r.later = append(r.later, l)
	r.busy++
	if l.number <= r.policy.settings.MaxCopies {
		r.timer.Reset(r.delay)
	} else {
		r.timer.Stop()
	}
	return true
}

// carry runs a later copy to its end.
func (r *race[Q, R]) carry(ctx context.Context, l *lane[R]) {
	defer r.policy.late.Done()
	returned := false
	defer func() {
		if !returned {
			r.crashed(ctx, l, recover())
		}
	}()
	r.policy.scope.Emit(ctx, backstay.Event{
		Kind: backstay.HedgeStarted, Copy: l.number, Wait: l.began.Sub(r.first.began),
	})
	if q, err := r.exchange.Fork(r.request, l.number); err == nil {
		answer, err := r.next(l, q)
		r.settle(ctx, l, answer, err)
	} else {
		var none R
		r.settleAs(ctx, l, none, err, backstay.Outcome{Class: backstay.Rejected})
	}
	returned = true
}

// crashed ends the race because a later copy panicked or called
// runtime.Goexit. It happens again on the caller's goroutine, if the call still
// waits. l is nil where it was not a copy but a callback that was asked for
// leave to send one.
func (r *race[Q, R]) crashed(ctx context.Context, l *lane[R], value any) {
	e := &PanicError{Value: value, Stack: debug.Stack()}
	if l == nil || l.ended {
		sent, _ := r.progress()
		e.Copy = sent + 1
		r.tellPanic(ctx, e) // first, because it wakes the caller next
		if r.crash(nil, e) {
			r.cancelRunning()
		}
		return
	}
	e.Copy = l.number
	if r.crash(l, e) {
		r.cancelRunning()
		return
	}
	r.drop(ctx, l, backstay.ReasonHedgeCancelled)
	r.tellPanic(ctx, e)
}

// crash ends the race by e, which happened to l, and reports whether the call
// still waited.
func (r *race[Q, R]) crash(l *lane[R], e *PanicError) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l != nil {
		l.took = backstay.Now().Sub(l.began)
		l.outcome, l.err = e.Outcome(), e
	}
	if r.over {
		return false
	}
	if l != nil {
		l.ended = true
	}
	r.crashedBy = e
	r.decide(nil)
	return true
}

// tellPanic tells of a panic that no [backstay.HedgeDone] tells the caller of.
func (r *race[Q, R]) tellPanic(ctx context.Context, e *PanicError) {
	if e.Value != nil {
		r.policy.scope.Emit(ctx, backstay.Event{Kind: backstay.CallbackPanicked, Copy: e.Copy, Err: e})
	}
}

// repeat does on the caller's goroutine what the copy did on its own.
func (e *PanicError) repeat() {
	if e.Value == nil {
		runtime.Goexit()
	}
	panic(e.Value)
}
