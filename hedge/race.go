package hedge

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// race is one hedged call. The first copy runs on the caller's goroutine, the
// later ones on their own; whoever ends the race says so under mu, and the
// caller collects. Once it is over, nothing but a running lane changes.
type race[Q, R any] struct {
	policy   *Policy
	exchange backstay.Exchange[Q, R]
	request  Q // a fork: copies may outlive the call, and the caller change its own
	next     backstay.Call[Q, R]
	delay    time.Duration
	trail    trail
	first    lane[R]

	mu        sync.Mutex
	timer     *time.Timer // sends the next copy
	later     []*lane[R]
	winner    *lane[R] // nil until the race is over, and after a crash
	crashedBy *PanicError
	wake      chan struct{} // closed at the end of the race; made when the caller waits
	busy      int32         // copies that run, or have failed and may be sending the next
	over      bool
	left      bool // it was the end of the caller's context that ended the race
}

// lane is one copy. All of it belongs to the copy's goroutine until the copy
// or the race has ended; what ended before the race did belongs to the caller.
type lane[R any] struct {
	copyContext

	ended   bool // before the race was over
	began   backstay.Instant
	took    time.Duration
	outcome backstay.Outcome
	answer  R
	err     error
}

// run makes a hedged call.
func run[Q, R any](ctx context.Context, s start, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	own, err := x.Fork(q, 1)
	if err != nil {
		return next(ctx, q) // it can be sent once, then
	}
	r := &race[Q, R]{policy: p, exchange: x, request: own, next: next, delay: s.delay, busy: 1}
	r.enter(ctx, &r.first, 1, s.began)
	r.arm(ctx)
	collected := false
	defer func() {
		if !collected {
			r.abandon(ctx)
		}
	}()
	answer, err := next(&r.first, own)
	if !r.settle(ctx, &r.first, answer, err) {
		r.await(ctx)
	}
	r.timer.Stop()
	collected = true
	return r.collect(ctx)
}

// enter readies a lane.
func (r *race[Q, R]) enter(ctx context.Context, l *lane[R], number int, began backstay.Instant) {
	l.Context, l.number, l.trail, l.began = ctx, number, &r.trail, began
}

// arm starts the timer of the second copy. It holds mu because the timer may
// fire before it is known.
func (r *race[Q, R]) arm(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(r.delay, func() { r.fire(ctx) })
}

// settle takes in what a copy returned, and reports whether the race is over.
func (r *race[Q, R]) settle(ctx context.Context, l *lane[R], answer R, err error) bool {
	return r.settleAs(ctx, l, answer, err, backstay.Judge(l, r.exchange, answer, err))
}

// settleAs takes in how a copy ended: it may decide the race, be kept for the
// case that no copy does better, or come too late.
func (r *race[Q, R]) settleAs(ctx context.Context, l *lane[R], answer R, err error, o backstay.Outcome) bool {
	if l.number > 1 && o.Class == backstay.Rejected {
		r.policy.refund() // it was not sent
	}
	r.mu.Lock()
	if len(r.later) > 0 || r.policy.live() {
		l.took = backstay.Now().Sub(l.began)
	}
	l.outcome, l.answer, l.err = o, answer, err
	if r.over {
		r.mu.Unlock()
		r.drop(ctx, l, backstay.ReasonHedgeCancelled)
		return true
	}
	l.ended = true
	if decides(o) && !r.cut(ctx, l) {
		r.decide(l)
		r.mu.Unlock()
		r.cancelRunning()
		return true
	}
	r.mu.Unlock()
	if hastens(o) && r.exchange.Repeat(r.request, o) == nil {
		r.sendNow(ctx)
	}
	return r.leave(ctx)
}

// cut reports whether a later copy ended because the caller left. That is for
// the caller's goroutine to notice, which may have an answer to leave with.
func (r *race[Q, R]) cut(ctx context.Context, l *lane[R]) bool {
	return l.number > 1 && l.outcome.Class == backstay.Canceled && ctx.Err() != nil
}

// leave ends a copy that failed, and reports whether the race is over. The
// last to leave decides for the best.
func (r *race[Q, R]) leave(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	if r.busy > 0 || r.over {
		return r.over
	}
	r.left = ctx.Err() != nil
	r.decide(r.best())
	return true
}

// best returns the failed copy that tells the caller most. mu is held, and the
// first copy has failed.
func (r *race[Q, R]) best() *lane[R] {
	best := &r.first
	for _, l := range r.later {
		if l.ended && better(l.outcome, best.outcome) {
			best = l
		}
	}
	return best
}

// decide ends the race. mu is held.
func (r *race[Q, R]) decide(winner *lane[R]) {
	r.over, r.winner = true, winner
	if r.wake != nil {
		close(r.wake)
	}
}

// cancelRunning tells the copies that still run that they have lost. The race
// is over, so there will be no more of them.
func (r *race[Q, R]) cancelRunning() {
	if !r.first.ended {
		r.first.lose()
	}
	for _, l := range r.later {
		if !l.ended {
			l.lose()
		}
	}
}

// await returns when the race is over. The end of ctx ends it, and has ended
// the contexts of the copies that run.
func (r *race[Q, R]) await(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.wake = make(chan struct{})
	r.mu.Unlock()
	select {
	case <-r.wake:
	case <-ctx.Done():
	}
	r.mu.Lock()
	if !r.over {
		r.left = true
		r.decide(r.best())
	}
}

// collect frees the losers and hands out what the race came to.
func (r *race[Q, R]) collect(ctx context.Context) (R, error) {
	if len(r.later) > 0 {
		r.report(ctx)
		r.freeLosers(ctx)
	}
	w := r.winner
	if w == nil {
		r.crashedBy.repeat()
	}
	if r.policy.live() && w.outcome.Class == backstay.Success {
		// The call's latency, not the copy's: a call that was hedged did take
		// longer than the delay, and has to count as one that did.
		r.policy.sample(w.began.Add(w.took).Sub(r.first.began))
	}
	if w.err != nil {
		w.Cancel()
		return w.answer, r.failure(ctx)
	}
	return r.exchange.Bind(w.answer, &w.copyContext), nil
}

// failure returns the error of the call: the winner's, and where the caller
// left before the race was over, also why it did.
func (r *race[Q, R]) failure(ctx context.Context) error {
	if !r.left {
		return r.winner.err
	}
	return fmt.Errorf("hedge: gave up waiting for another copy: %w; copy %d failed: %w",
		backstay.ContextError(ctx), r.winner.number, r.winner.err)
}

// abandon ends the race because the caller's goroutine is unwinding.
func (r *race[Q, R]) abandon(ctx context.Context) {
	r.mu.Lock()
	if !r.over {
		r.decide(nil)
	}
	r.mu.Unlock()
	r.timer.Stop()
	r.cancelRunning()
	r.winner = nil // nobody is there to take its answer
	r.freeLosers(ctx)
}
