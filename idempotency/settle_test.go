package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

var errStore = errors.New("connection refused")

// failing fails the given number of times, then works.
func failing(times int, err error) func(context.Context) error {
	return func(context.Context) error {
		if times--; times >= 0 {
			return err
		}
		return nil
	}
}

func TestAnAnswerIsStoredThoughTheStoreFailsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: newMemory(t), complete: failing(2, errStore)}
		guard := guardOver(t, store, idempotency.GuardConfig{})
		began := time.Now()
		if _, _, err := guard.Run(t.Context(), request("k", "body"), answering("answer")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took == 0 || took > 500*time.Millisecond {
			t.Errorf("it took %v, want two short pauses", took)
		}
		if got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t)); err != nil || !replayed || string(got.Data) != "answer" {
			t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
		}
	})
}

func TestAnAnswerThatCannotBeStoredIsGivenAllTheSame(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		complete func(context.Context) error
		atMost   time.Duration
	}{
		"the store fails": {failing(100, errStore), time.Second},
		"the store hangs": {hang, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(events)
				store := &hooked{Store: newMemory(t), complete: c.complete}
				guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
				began := time.Now()
				got, replayed, err := guard.Run(t.Context(), request("k", "body"), answering("answer"))
				if err != nil || replayed || string(got.Data) != "answer" || time.Since(began) > c.atMost {
					t.Errorf("got %q, replayed %t, %v after %v", got.Data, replayed, err, time.Since(began))
				}
				if told := seen.only(t, idempotency.AnswerNotKept); told.Err == nil {
					t.Error("the observer was not told why")
				}
			})
		})
	}
}

func TestAnAnswerIsStoredThoughItsCallerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(t, idempotency.GuardConfig{})
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := guard.Run(ctx, request("k", "body"), func(context.Context) (idempotency.Answer, error) {
			cancel()
			return idempotency.Answer{Data: []byte("answer")}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t)); err != nil || !replayed || string(got.Data) != "answer" {
			t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
		}
	})
}

func TestAnAnswerThatIsTooLargeIsGivenOnceAndTheWorkIsNotRepeated(t *testing.T) {
	large := strings.Repeat("x", 1001)
	for name, c := range map[string]struct {
		config   idempotency.GuardConfig
		complete func(context.Context) error
		answer   idempotency.Answer
	}{
		"by the guard's bound": {idempotency.GuardConfig{MaxAnswer: 1000}, nil, idempotency.Answer{Data: []byte(large)}},
		"by the protocol's":    {idempotency.GuardConfig{}, nil, idempotency.Answer{Data: []byte("the beginning"), Keep: idempotency.KeepMark}},
		"by the store's": {
			idempotency.GuardConfig{}, failing(1, idempotency.ErrStoreFull), idempotency.Answer{Data: []byte(large)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := new(events)
			store := &hooked{Store: newMemory(t), complete: c.complete}
			guard := guardOver(t, store, c.config, scoped(seen))
			got, _, err := guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
				return c.answer, nil
			})
			if err != nil || !bytes.Equal(got.Data, c.answer.Data) {
				t.Errorf("the first got %d bytes, %v", len(got.Data), err)
			}
			if told := seen.only(t, idempotency.AnswerNotKept); !errors.Is(told.Err, idempotency.ErrAnswerNotKept) {
				t.Errorf("told %v", told.Err)
			}
			_, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t))
			e, ok := errors.AsType[*idempotency.Error](err)
			if !ok || replayed || !errors.Is(err, idempotency.ErrAnswerNotKept) || e.HTTPStatus() != 409 || e.RetryAfter != 0 {
				t.Errorf("then replayed %t, %v, want ErrAnswerNotKept, 409 without Retry-After", replayed, err)
			}
		})
	}
}

func TestAnAnswerAtTheBoundIsKept(t *testing.T) {
	guard := newGuard(t, idempotency.GuardConfig{MaxAnswer: 1000})
	if guard.MaxAnswer() != 1000 {
		t.Errorf("MaxAnswer is %d", guard.MaxAnswer())
	}
	want := strings.Repeat("x", 1000)
	for range 2 {
		if got, _, err := guard.Run(t.Context(), request("k", "body"), answering(want)); err != nil || string(got.Data) != want {
			t.Errorf("got %d bytes, %v", len(got.Data), err)
		}
	}
}

func TestAKeyThatCannotBeFreedIsToldAndFreesItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, failure := new(events), errors.New("failed")
		store := &hooked{Store: newMemory(t), release: failing(3, errStore)}
		guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
		_, _, err := guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
			return idempotency.Answer{}, failure
		})
		if err != failure {
			t.Errorf("got %v, want the work's own error", err)
		}
		if told := seen.only(t, idempotency.KeyNotFreed); !errors.Is(told.Err, errStore) {
			t.Errorf("told %v", told.Err)
		}
		if _, replayed, err := guard.Run(t.Context(), request("k", "body"), answering("second")); err != nil || replayed {
			t.Errorf("after the lease: replayed %t, %v", replayed, err)
		}
	})
}

func TestAKeyThatIsFreeAlreadyIsNothingToTell(t *testing.T) {
	seen, failure := new(events), errors.New("failed")
	store := &hooked{Store: newMemory(t), release: failing(1, idempotency.ErrLeaseLost)}
	guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
	_, _, err := guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
		return idempotency.Answer{}, failure
	})
	if told := seen.Take(); err != failure || len(told) > 0 {
		t.Errorf("got %v, told %v", err, told)
	}
}
