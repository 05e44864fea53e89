package idempotency

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// tenure is one attempt to own a key and, if that succeeds, the time as its
// owner: from Begin until Complete or Release. While the work runs, until,
// lost and unprotected belong to the keeper.
type tenure struct {
	guard   *Guard
	request Request
	hold    Claim
	until   backstay.Instant // when the lease ends
	lost    error            // why it was lost; nil if it was not

	unprotected bool // the store let the work begin without knowing of it

	end       context.CancelCauseFunc // ends the context of the work
	stop      context.CancelFunc      // ends what helpers do
	helpers   sync.WaitGroup          // the keeper and the lingerer
	keeper    *time.Timer             // starts the keeper
	lingering func() bool             // prevents the lingerer from starting
}

func newTenure(g *Guard, r Request) *tenure {
	t := &tenure{guard: g, request: r, hold: Claim{Key: Derive(r.Key, r.Scope...)}}
	_, _ = rand.Read(t.hold.Owner[:]) // never fails
	return t
}

// perform runs work as the owner of the key and settles what becomes of it.
func (t *tenure) perform(ctx context.Context, work func(context.Context) (Answer, error)) (Answer, error) {
	working := t.enter(ctx)
	returned := false
	defer func() {
		if !returned { // a panic or a Goexit passes through
			t.leave()
			t.free(ctx)
		}
	}()
	a, err := work(working)
	returned = true
	t.leave()
	switch {
	case err != nil:
		t.free(ctx)
		return a, t.explain(err)
	case a.Keep == KeepNothing:
		t.free(ctx)
	default:
		t.record(ctx, a)
	}
	return a, nil
}

// enter returns the context of the work and sees to its lease and its end.
// Most work ends before there is anything to do, so that the goroutines for it
// start when they are needed; leave waits for them.
func (t *tenure) enter(ctx context.Context) context.Context {
	working, forget := t.workContext(ctx)
	working, end := context.WithCancelCause(working)
	t.end = func(cause error) { end(cause); forget() }

	helping, stop := context.WithCancel(context.WithoutCancel(ctx))
	t.stop = stop
	t.helpers.Add(1)
	t.keeper = time.AfterFunc(t.guard.config.Lease/renewals, func() {
		defer t.helpers.Done()
		t.keep(helping)
	})
	if t.guard.config.Grace != NoGrace && ctx.Done() != nil {
		t.helpers.Add(1)
		t.lingering = context.AfterFunc(ctx, func() {
			defer t.helpers.Done()
			t.linger(helping, ctx)
		})
	}
	return working
}

// leave waits for the helpers to be gone and ends the context of the work.
func (t *tenure) leave() {
	t.stop()
	if t.keeper.Stop() {
		t.helpers.Done() // in place of a keeper that never began
	}
	if t.lingering != nil && t.lingering() {
		t.helpers.Done()
	}
	t.helpers.Wait()
	t.end(nil)
}

// workContext is ctx without its end: Grace is added to its deadline, and its
// cancellation is left to the lingerer.
func (t *tenure) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	grace := t.guard.config.Grace
	if grace == NoGrace {
		return context.WithValue(ctx, incomingKey{}, t.newIncoming()), func() {}
	}
	working := context.WithValue(context.WithoutCancel(ctx), incomingKey{}, t.newIncoming())
	if end, ok := ctx.Deadline(); ok {
		return context.WithDeadline(working, end.Add(grace))
	}
	return working, func() {}
}

// explain makes an error of work say that its lease was lost, if that is what
// ended it: by itself it looks as if the caller had given up.
func (t *tenure) explain(err error) error {
	if t.lost == nil || !errors.Is(err, context.Canceled) || errors.Is(err, ErrLeaseLost) {
		return err
	}
	e := t.refusal(ErrLeaseLost)
	e.RetryAfter, e.Cause = t.guard.config.RetryAfter, err
	return e
}
