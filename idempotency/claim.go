package idempotency

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/backstay-go/backstay"
)

// claim asks for the key until it is the tenure's own or its answer is there,
// and tells the observer of the answer, or why there is none.
func (t *tenure) claim(ctx context.Context) (Result, error) {
	began := backstay.Now()
	result, err := t.await(ctx, began)
	switch {
	case t.guard.scope.Silent():
	case err != nil:
		t.guard.emitRefusal(ctx, err)
	case result.State == Completed:
		t.guard.scope.Emit(ctx, backstay.Event{Kind: KeyReplayed, Elapsed: backstay.Now().Sub(began)})
	}
	return result, err
}

// await asks the store again and again while somebody else does the work.
func (t *tenure) await(ctx context.Context, now backstay.Instant) (Result, error) {
	if err := t.check(); err != nil {
		return Result{}, err
	}
	end := now.Add(max(t.guard.config.MaxWait, 0))
	for look := 1; ; look++ {
		result, err := t.begin(ctx)
		if err != nil {
			t.abandon(ctx, err)
			return Result{}, t.storeError(ctx, err)
		}
		if result.State != InFlight {
			return result, t.verdict(result)
		}
		if err := t.wait(ctx, result.Remaining, end, look); err != nil {
			return Result{}, err
		}
	}
}

// check refuses a key that cannot be used.
func (t *tenure) check() error {
	if t.request.Key == "" {
		return t.refusal(ErrKeyMissing)
	}
	err := CheckKey(t.request.Key)
	if invalid, ok := errors.AsType[*Error](err); ok {
		invalid.Name = t.guard.scope.Name()
	}
	return err
}

// begin asks the store for the key once.
func (t *tenure) begin(ctx context.Context) (Result, error) {
	asked := backstay.Now()
	result, err := t.guard.store.Begin(ctx, t.hold, t.request.Fingerprint, t.guard.config.Lease)
	if err == nil && result.State == Started {
		t.until = asked.Add(t.guard.config.Lease) // from before the asking: never longer than the store thinks
		t.unprotected = result.Unprotected
	}
	return result, err
}

// verdict is the refusal that follows from what the store knows, if any.
func (t *tenure) verdict(result Result) error {
	switch {
	case result.State == Started, result.State == Completed && !result.Record.Omitted:
		return nil
	case result.State == Completed:
		return t.refusal(ErrAnswerNotKept)
	case result.State == Mismatched:
		return t.refusal(ErrMismatch)
	default:
		return t.failure(fmt.Errorf("it answered with the state %d", result.State))
	}
}

// wait returns nil when it is time to ask the store again, and a refusal when
// the time for waiting is over.
func (t *tenure) wait(ctx context.Context, remaining time.Duration, end backstay.Instant, look int) error {
	left := end.Sub(backstay.Now())
	if left <= 0 {
		return t.inFlight(remaining, nil)
	}
	bounded, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var err error
	if w := t.guard.waiter; w != nil {
		err = w.Wait(bounded, t.hold.Key)
	} else {
		err = sleep(ctx, min(pause(look, t.guard.config.Poll), remaining, left))
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return gaveUp(ctx)
	case ctx.Err() != nil:
		return t.inFlight(remaining, backstay.ContextError(ctx))
	case bounded.Err() != nil:
		return t.inFlight(remaining, nil)
	default:
		return t.failure(err)
	}
}

// pause is the time between one look at a store and the next: 5 ms, then twice
// as long each time, at most the given one; a random part of it is left out,
// so that those who wait for the same key do not ask in step.
func pause(look int, most time.Duration) time.Duration {
	const first = 5 * time.Millisecond
	d := min(first<<min(look-1, 20), most)
	return d - rand.N(d/4+1)
}

// sleep returns after d, or with ctx's error if that is done earlier.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// abandon gives back what the store may have granted although its answer was
// lost, so that nobody waits for an owner who never began.
func (t *tenure) abandon(ctx context.Context, err error) {
	if errors.Is(err, ErrStoreFull) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.guard.patience())
	defer cancel()
	_ = t.guard.store.Release(ctx, t.hold) // at worst the lease passes
}
