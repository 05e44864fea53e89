package idempotencytest

import (
	"context"
	"errors"

	"github.com/backstay-go/backstay/idempotency"
)

// cancelled is a context that is done.
func (b *bench) cancelled() context.Context {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	return ctx
}

// wantCanceled wants a step on a cancelled context to say so.
func (b *bench) wantCanceled(step string, err error) {
	b.Helper()
	if !errors.Is(err, context.Canceled) {
		b.Errorf("%s on a cancelled context: %v, want context.Canceled", step, err)
	}
}

var contexts = []testCase{
	{"nothing begins on a cancelled context", func(b *bench) {
		c := fresh()
		_, err := b.store.Begin(b.cancelled(), c, printA, long)
		b.wantCanceled("Begin", err)
		b.isFree(c.Key)
	}},
	{"nothing is replayed on a cancelled context", func(b *bench) {
		c := b.completed("answer", long)
		got, err := b.store.Begin(b.cancelled(), owner(c.Key), printA, long)
		b.wantCanceled("Begin", err)
		if len(got.Record.Answer) != 0 {
			b.Errorf("got %q", got.Record.Answer)
		}
	}},
	{"no owner's step has an effect on a cancelled context", func(b *bench) {
		c := b.started(b.Lease)
		b.wantCanceled("Complete", b.store.Complete(b.cancelled(), c, idempotency.Record{}, long))
		b.wantCanceled("Release", b.store.Release(b.cancelled(), c))
		b.begin(owner(c.Key), printA, long, idempotency.InFlight)
		b.wantCanceled("Renew", b.store.Renew(b.cancelled(), c, long))
		b.passes(b.Lease)
		b.isFree(c.Key)
	}},
}
