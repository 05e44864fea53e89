package idempotency

import (
	"context"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay"
)

// record keeps the answer of work that was done. It returns nothing: the
// caller gets its answer whatever happens here, since an error would make it
// do the work again.
func (t *tenure) record(ctx context.Context, a Answer) {
	kept := Record{Answer: a.Data}
	if a.Keep == KeepMark || int64(len(a.Data)) > t.guard.config.MaxAnswer {
		kept = Record{Omitted: true}
	}
	err := t.complete(ctx, kept)
	if errors.Is(err, ErrStoreFull) && !kept.Omitted {
		kept = Record{Omitted: true}
		err = t.complete(ctx, kept)
	}
	if err == nil && kept.Omitted {
		err = t.refusal(ErrAnswerNotKept)
	}
	t.tell(ctx, AnswerNotKept, err)
}

// complete stores a record. If the lease has passed and nobody took the key,
// the key is taken back for it.
func (t *tenure) complete(ctx context.Context, kept Record) error {
	tell := func(ctx context.Context) error {
		return t.guard.store.Complete(ctx, t.hold, kept, t.guard.config.Retention)
	}
	err := t.settle(ctx, tell)
	if errors.Is(err, ErrLeaseLost) && t.reclaim(context.WithoutCancel(ctx)) {
		err = t.settle(ctx, tell)
	}
	return err
}

// free gives the key back after work that failed.
func (t *tenure) free(ctx context.Context) {
	if t.lost != nil {
		return // it is not ours to give
	}
	err := t.settle(ctx, func(ctx context.Context) error { return t.guard.store.Release(ctx, t.hold) })
	if !errors.Is(err, ErrLeaseLost) { // else it is free already
		t.tell(ctx, KeyNotFreed, err)
	}
}

// settle tells the store how the work ended, several times if it fails, on a
// context that outlives the caller's. A store that let the work begin because it
// failed is told once.
func (t *tenure) settle(ctx context.Context, tell func(context.Context) error) error {
	tries := 3
	if t.unprotected {
		tries = 1
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.guard.config.Lease/renewals)
	defer cancel()
	for try := 1; ; try++ {
		err := attempt(ctx, tell)
		final := err == nil || errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrStoreFull)
		if final || try == tries || sleep(ctx, pause(3*try, t.guard.config.Poll)) != nil {
			return err
		}
	}
}

// attempt makes one call to the store. Its panic becomes an error: the work is
// over, and its caller gets the answer whatever the store does.
func attempt(ctx context.Context, call func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the store panicked: %v", v)
		}
	}()
	return call(ctx)
}

// tell tells the observer of an error; nil is nothing to tell.
func (t *tenure) tell(ctx context.Context, what backstay.Kind, err error) {
	if err != nil && !t.guard.scope.Silent() {
		t.guard.scope.Emit(ctx, backstay.Event{Kind: what, Err: err})
	}
}
