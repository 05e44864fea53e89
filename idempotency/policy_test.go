package idempotency_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
)

func newPolicy(tb testing.TB, c idempotency.Config, opts ...idempotency.Option) *idempotency.Policy {
	tb.Helper()
	p, err := idempotency.New(c, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestEnsureMakesAKeyOnceACall(t *testing.T) {
	policy := newPolicy(t, idempotency.Config{Generate: true})
	ctx, first := idempotency.Ensure(context.Background(), policy)
	if idempotency.CheckKey(first) != nil || idempotency.KeyFrom(ctx) != first {
		t.Fatalf("made %q, the context carries %q", first, idempotency.KeyFrom(ctx))
	}
	if again, second := idempotency.Ensure(ctx, policy); second != first || again != ctx {
		t.Errorf("within the call the key is %q, want %q in the same context", second, first)
	}
	if _, other := idempotency.Ensure(context.Background(), policy); other == first {
		t.Error("another call has the same key")
	}
}

func TestTheCallersOwnKeyWins(t *testing.T) {
	for name, policy := range map[string]*idempotency.Policy{
		"over a generated one":   newPolicy(t, idempotency.Config{Generate: true}),
		"where none is made":     newPolicy(t, idempotency.Config{}),
		"where no policy is set": nil,
	} {
		t.Run(name, func(t *testing.T) {
			ctx := idempotency.WithKey(context.Background(), "mine")
			got, key := idempotency.Ensure(ctx, policy)
			if key != "mine" || got != ctx {
				t.Errorf("got %q, want mine in the same context", key)
			}
		})
	}
}

// Acceptance case C60.
func TestC60_WithoutGenerationNoKeyIsMade(t *testing.T) {
	for name, policy := range map[string]*idempotency.Policy{
		"the zero Config": newPolicy(t, idempotency.Config{}), "no policy": nil,
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			if got, key := idempotency.Ensure(ctx, policy); key != "" || got != ctx {
				t.Errorf("made the key %q", key)
			}
		})
	}
}

func TestAnEmptyKeyOfTheCallerAsksForANewOne(t *testing.T) {
	ctx := idempotency.WithKey(idempotency.WithKey(context.Background(), "inherited"), "")
	policy := newPolicy(t, idempotency.Config{Generate: true})
	if _, key := idempotency.Ensure(ctx, policy); key == "" || key == "inherited" {
		t.Errorf("got %q, want a new key", key)
	}
}

func TestTheReportTellsTheKey(t *testing.T) {
	policy := newPolicy(t, idempotency.Config{Generate: true}, idempotency.WithGenerator(func() string { return "made" }))
	ctx, report := backstay.WithReport(context.Background())
	idempotency.Ensure(ctx, policy)
	if key := report.Summary().Key; key != "made" {
		t.Errorf("the report tells %q, want made", key)
	}
}

func TestTheHeaderIsConfigurable(t *testing.T) {
	plain, stripe := newPolicy(t, idempotency.Config{}), newPolicy(t, idempotency.Config{Header: "x-request-id", Bare: true})
	for _, c := range []struct {
		policy        *idempotency.Policy
		header, value string
	}{
		{nil, "Idempotency-Key", `"k"`},
		{plain, "Idempotency-Key", `"k"`},
		{stripe, "X-Request-Id", "k"},
	} {
		if h, v := c.policy.Header(), c.policy.Format("k"); h != c.header || v != c.value {
			t.Errorf("got %s: %s, want %s: %s", h, v, c.header, c.value)
		}
	}
}

func TestAHeaderMustBeAToken(t *testing.T) {
	for _, header := range []string{" ", "a b", "a:", "clé", "a\r\nb", "\x00"} {
		err := idempotency.Config{Header: header}.Validate()
		field, ok := errors.AsType[*backstay.FieldError](err)
		if !ok || field.Path != "header" {
			t.Errorf("header %q: %v, want a fault of header", header, err)
		}
	}
	_, err := idempotency.New(idempotency.Config{Header: "a b"})
	if err == nil || !strings.HasPrefix(err.Error(), "idempotency.header:") {
		t.Errorf("New: %v, want a fault of idempotency.header", err)
	}
}

func TestEnsureIsFreeWhereNoKeyIsMade(t *testing.T) {
	policy, ctx := newPolicy(t, idempotency.Config{}), context.Background()
	testkit.Allocs(t, 0, func() { _, _ = idempotency.Ensure(ctx, policy) })
	keyed := idempotency.WithKey(ctx, "mine")
	testkit.Allocs(t, 0, func() { _, _ = idempotency.Ensure(keyed, policy) })
	generating := newPolicy(t, idempotency.Config{Generate: true})
	testkit.Allocs(t, 3, func() { _, _ = idempotency.Ensure(ctx, generating) }) // the key, and its context
}
