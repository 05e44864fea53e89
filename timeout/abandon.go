package timeout

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// Abandon runs next on a goroutine of its own and returns when its attempt
// reaches the limit of p, or when ctx ends, even if next does not return then.
// next must contain the [Run] of the same policy, which puts the limit on and
// says when it begins; breaker and bulkhead may stand between the two, and
// what they hold is freed when next really ends. A late answer is discarded;
// [Policy.Close] waits for late ends. After Close the attempt is waited for on
// the caller's goroutine instead.
//
// A panic of next reaches the caller while the caller waits; later it is told
// to the observer as [backstay.CallbackPanicked].
func Abandon[Q, R any](ctx context.Context, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil {
		return next(ctx, q)
	}
	own, err := x.Fork(q, 1) // the caller may change q while the attempt runs on
	if err != nil || !p.late.Add() {
		return next(ctx, q)
	}
	h := &handover[R]{began: make(chan attempt, 1), answer: make(chan answer[R], 1)}
	go func() {
		defer p.late.Done()
		watched := context.WithValue(ctx, watchKey{}, &watch{policy: p, attempts: h.began})
		h.run(func() (R, error) { return next(watched, own) }, func(late answer[R]) { reap(ctx, p, x, late) })
	}()
	return h.wait(ctx, p)
}

// reap frees what an abandoned attempt came to in the end.
func reap[Q, R any](ctx context.Context, p *Policy, x backstay.Exchange[Q, R], late answer[R]) {
	switch late.end {
	case returned:
		if late.err == nil {
			x.Discard(late.r)
		}
	case panicked:
		p.scope.Emit(ctx, backstay.Event{
			Kind: backstay.CallbackPanicked,
			Err:  fmt.Errorf("timeout: an abandoned attempt panicked: %v", late.value),
		})
	case exited:
	}
}

// attempt is an attempt under way: its context and its limit.
type attempt struct {
	ctx   *lazyctx.Ctx
	after time.Duration
}

// watch is where Run tells Abandon that a limited attempt began.
type watch struct {
	policy   *Policy
	attempts chan<- attempt
}

type watchKey struct{}

// watchOf returns the watch that an Abandon by p put into ctx, or nil. That of
// another policy is none of p's business: its callee made a call of its own.
func watchOf(ctx context.Context, p *Policy) *watch {
	if !p.config.Abandon {
		return nil
	}
	if w, ok := ctx.Value(watchKey{}).(*watch); ok && w.policy == p {
		return w
	}
	return nil
}

// began tells of an attempt. Only the first one under an Abandon is its own.
func (w *watch) began(c *lazyctx.Ctx, after time.Duration) {
	select {
	case w.attempts <- attempt{c, after}:
	default:
	}
}

// end is how a call came to its end.
type end uint8

const (
	exited   end = iota // runtime.Goexit
	returned            // a result
	panicked            // a panic
)

// answer is what a call on another goroutine came to.
type answer[R any] struct {
	r     R
	err   error
	end   end
	value any // what it panicked with
}

// repeat does on this goroutine what the call did on its own.
func (a answer[R]) repeat() (R, error) {
	switch a.end {
	case panicked:
		panic(a.value)
	case exited:
		runtime.Goexit()
	case returned:
	}
	return a.r, a.err
}

// handover is where a call on another goroutine meets the caller that may
// leave before it ends.
type handover[R any] struct {
	began   chan attempt
	answer  chan answer[R]
	settled atomic.Bool // by whoever is first: the answer or the leaving caller
}

// run calls f and hands over what it came to, to late if the caller has left.
func (h *handover[R]) run(f func() (R, error), late func(answer[R])) {
	var got answer[R]
	defer func() {
		if got.end != returned {
			if v := recover(); v != nil {
				got.end, got.value = panicked, v
			}
		}
		if h.settled.CompareAndSwap(false, true) {
			h.answer <- got
		} else {
			late(got)
		}
	}()
	got.r, got.err = f()
	got.end = returned
}

// wait returns the answer, or an error at the limit or at the end of ctx.
func (h *handover[R]) wait(ctx context.Context, p *Policy) (R, error) {
	var current attempt
	var ended <-chan struct{}
	began := h.began
	for {
		var err error
		select {
		case got := <-h.answer:
			return got.repeat()
		case current = <-began:
			ended, began = current.ctx.Done(), nil
			continue
		case <-ended:
			if !current.ctx.Expired() { // it has its answer, which is on its way
				ended = nil
				continue
			}
			err = &Error{Name: p.scope.Name(), After: current.after}
		case <-ctx.Done():
			err = backstay.ContextError(ctx)
		}
		if !h.settled.CompareAndSwap(false, true) {
			return (<-h.answer).repeat()
		}
		var none R
		return none, err
	}
}

// Close makes further abandoning impossible and waits until every abandoned
// attempt has really ended, or until ctx ends; then it returns ctx's error.
func (p *Policy) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p.late.Close(ctx)
}
