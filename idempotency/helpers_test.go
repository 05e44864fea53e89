package idempotency_test

import (
	"context"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
)

func newMemory(tb testing.TB) *idempotency.Memory {
	tb.Helper()
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

// newGuard makes a guard over a store of its own.
func newGuard(tb testing.TB, c idempotency.GuardConfig, opts ...idempotency.Option) *idempotency.Guard {
	tb.Helper()
	return guardOver(tb, newMemory(tb), c, opts...)
}

func guardOver(tb testing.TB, s idempotency.Store, c idempotency.GuardConfig, opts ...idempotency.Option) *idempotency.Guard {
	tb.Helper()
	g, err := idempotency.NewGuard(c, s, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// request asks with a key for what body stands for.
func request(key, body string) idempotency.Request {
	return idempotency.Request{Key: key, Fingerprint: idempotency.FingerprintOf(body)}
}

// answering is work that is done at once.
func answering(data string) func(context.Context) (idempotency.Answer, error) {
	return func(context.Context) (idempotency.Answer, error) {
		return idempotency.Answer{Data: []byte(data)}, nil
	}
}

// lasting is work that takes d and heeds its context.
func lasting(d time.Duration, data string) func(context.Context) (idempotency.Answer, error) {
	return func(ctx context.Context) (idempotency.Answer, error) {
		select {
		case <-time.After(d):
			return idempotency.Answer{Data: []byte(data)}, nil
		case <-ctx.Done():
			return idempotency.Answer{}, ctx.Err()
		}
	}
}

// never is work that must not be done.
func never(t *testing.T) func(context.Context) (idempotency.Answer, error) {
	return func(context.Context) (idempotency.Answer, error) {
		t.Error("the work ran")
		return idempotency.Answer{}, nil
	}
}

// hooked is a store that can be made to fail: a hook whose error is not nil
// takes the place of the store. It is no Waiter.
type hooked struct {
	idempotency.Store
	begin, renew, complete, release func(ctx context.Context) error
}

func (h *hooked) Begin(ctx context.Context, c idempotency.Claim, f idempotency.Fingerprint, lease time.Duration) (idempotency.Result, error) {
	if h.begin != nil {
		if err := h.begin(ctx); err != nil {
			return idempotency.Result{}, err
		}
	}
	return h.Store.Begin(ctx, c, f, lease)
}

func (h *hooked) Renew(ctx context.Context, c idempotency.Claim, lease time.Duration) error {
	if h.renew != nil {
		if err := h.renew(ctx); err != nil {
			return err
		}
	}
	return h.Store.Renew(ctx, c, lease)
}

func (h *hooked) Complete(ctx context.Context, c idempotency.Claim, r idempotency.Record, retention time.Duration) error {
	if h.complete != nil {
		if err := h.complete(ctx); err != nil {
			return err
		}
	}
	return h.Store.Complete(ctx, c, r, retention)
}

func (h *hooked) Release(ctx context.Context, c idempotency.Claim) error {
	if h.release != nil {
		if err := h.release(ctx); err != nil {
			return err
		}
	}
	return h.Store.Release(ctx, c)
}

// events remembers what an observer was told.
type events struct{ testkit.Recorder }

// only wants exactly one event, of the given kind.
func (e *events) only(t *testing.T, kind backstay.Kind) backstay.Event {
	t.Helper()
	all := e.Take()
	if len(all) != 1 || all[0].Kind != kind {
		t.Fatalf("got the events %v, want one %q", all, kind)
	}
	return all[0]
}

// scoped makes events observe a guard named payments.
func scoped(e *events) idempotency.Option {
	return idempotency.WithScope(&backstay.Scope{Policy: "payments", Observer: e})
}
