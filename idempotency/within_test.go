package idempotency_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// made runs work for a request that fails, and returns the keys that it made
// for calls of the kinds.
func made(t *testing.T, g *idempotency.Guard, r idempotency.Request, kinds ...string) (keys []string) {
	t.Helper()
	policy := newPolicy(t, idempotency.Config{Generate: true}, idempotency.WithGenerator(func() string {
		t.Error("the generator was asked")
		return "random"
	}))
	failed := errors.New("failed")
	_, _, err := g.Run(t.Context(), r, func(ctx context.Context) (idempotency.Answer, error) {
		for _, kind := range kinds {
			_, key := idempotency.Ensure(ctx, policy, "bank", "POST", kind)
			keys = append(keys, key)
		}
		return idempotency.Answer{}, failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	return keys
}

func TestWorkThatRunsAgainMakesTheSameKeysAgain(t *testing.T) {
	guard := newGuard(t, idempotency.GuardConfig{})
	kinds := []string{"/charge", "/charge", "/mail"}
	first := made(t, guard, request("k", "body"), kinds...)
	if again := made(t, guard, request("k", "body"), kinds...); !slices.Equal(first, again) {
		t.Errorf("%v, then %v", first, again)
	}
	// Calls of another kind in between change nothing.
	if mixed := made(t, guard, request("k", "body"), "/mail", "/charge"); mixed[0] != first[2] || mixed[1] != first[0] {
		t.Errorf("%v, then %v", first, mixed)
	}
}

func TestKeysMadeWithinWorkAreItsOwn(t *testing.T) {
	store := newMemory(t)
	named := func(name string) *idempotency.Guard {
		g, err := idempotency.NewGuard(idempotency.GuardConfig{}, store, idempotency.WithScope(&backstay.Scope{Policy: name}))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	orders, seen := named("orders"), map[string]bool{}
	of := func(key string, scope ...string) idempotency.Request {
		return idempotency.Request{Key: key, Scope: scope}
	}
	all := slices.Concat(
		made(t, orders, of("k", "ann"), "/charge", "/charge", "/mail"),
		made(t, orders, of("k", "bob"), "/charge"),
		made(t, orders, of("other", "ann"), "/charge"),
		made(t, named("bills"), of("k", "ann"), "/charge"),
	)
	for _, key := range all {
		if seen[key] || idempotency.CheckKey(key) != nil || key == "k" {
			t.Errorf("%q comes twice, or is none: %v", key, all)
		}
		seen[key] = true
	}
}

func TestACallersOwnKeyWinsWithinWork(t *testing.T) {
	guard, policy := newGuard(t, idempotency.GuardConfig{}), newPolicy(t, idempotency.Config{Generate: true})
	_, _, err := guard.Run(t.Context(), request("k", "body"), func(ctx context.Context) (idempotency.Answer, error) {
		if _, key := idempotency.Ensure(idempotency.WithKey(ctx, "mine"), policy, "bank"); key != "mine" {
			t.Errorf("got %q", key)
		}
		return idempotency.Answer{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}
