package hedge

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
)

// Run calls next, on the caller's goroutine, and calls it again on another
// goroutine if it has not answered after the delay of p, or at once if it
// failed in a way that another copy may mend; then it returns the first good
// answer. Each copy gets a request of its own from x.Fork and a context of its
// own: losers are cancelled with the cause [ErrLost] and their answers
// discarded, and the winner's context ends when its answer is used up, by
// x.Bind. A loser that runs on the caller's goroutine is waited for; so next
// must return when its context ends.
//
// A failed copy never beats one that still runs, unless its failure is one
// that every copy would meet. If all fail, the first copy's answer or error is
// returned as it is. If ctx ends while later copies are waited for, the error
// matches ctx's error, its cause, and the error of the copy that has failed.
//
// A panic or runtime.Goexit in any copy ends the race and reaches the caller's
// goroutine; see [PanicError] for where the stack of a later copy goes.
func Run[Q, R any](ctx context.Context, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil || !mayHedge(x, q) {
		return next(ctx, q)
	}
	s := p.begin(ctx)
	if s.hedged {
		return run(ctx, s, p, x, q, next)
	}
	r, err := next(ctx, q)
	if p.live() && x.Classify(r, err).Class == backstay.Success {
		p.sample(backstay.Now().Sub(s.began))
	}
	return r, err
}

// Do calls f as [Run] does. It is for functions that may run twice at the same
// time; what a losing copy returns is dropped.
func Do[T any](ctx context.Context, p *Policy, f func(context.Context) (T, error)) (T, error) {
	if p == nil {
		return f(ctx)
	}
	s := p.begin(ctx)
	if s.hedged {
		return doRun(ctx, s, p, f)
	}
	r, err := f(ctx)
	if p.live() && err == nil {
		p.sample(backstay.Now().Sub(s.began))
	}
	return r, err
}

// doRun is the hedged Do. It is apart so that only a hedged call allocates the
// closure.
func doRun[T any](ctx context.Context, s start, p *Policy, f func(context.Context) (T, error)) (T, error) {
	next := func(ctx context.Context, _ struct{}) (T, error) { return f(ctx) }
	return run(ctx, s, p, backstay.Plain[T]{}, struct{}{}, next)
}

// start is how a call begins.
type start struct {
	hedged bool
	delay  time.Duration
	began  backstay.Instant // 0 if neither a copy nor the percentile needs it
}

// begin pays for a call that may be hedged, and says whether it is to be. A
// caller whose deadline comes before the delay needs no timer.
func (p *Policy) begin(ctx context.Context) start {
	p.purse.put(p.settings.tariff, p.settings.tariff.deposit)
	var s start
	s.delay, s.hedged = p.Plan(p.State())
	s.hedged = s.hedged && !never(ctx)
	if s.hedged || p.live() {
		s.began = backstay.Now()
	}
	if s.hedged {
		end, bounded := ctx.Deadline()
		s.hedged = !bounded || s.began.Until(end) > s.delay
	}
	return s
}
