package idempotencytest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/idempotencytest"
)

// The suite's subject is named often here.
type (
	store       = idempotency.Store
	claim       = idempotency.Claim
	fingerprint = idempotency.Fingerprint
	result      = idempotency.Result
	record      = idempotency.Record
)

// broken is a good store with one fault: what is nil works.
type broken struct {
	store
	begin    func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error)
	renew    func(ctx context.Context, s store, c claim, lease time.Duration) error
	complete func(ctx context.Context, s store, c claim, r record, retention time.Duration) error
	release  func(ctx context.Context, s store, c claim) error
}

func (b broken) Begin(ctx context.Context, c claim, f fingerprint, lease time.Duration) (result, error) {
	if b.begin != nil {
		return b.begin(ctx, b.store, c, f, lease)
	}
	return b.store.Begin(ctx, c, f, lease)
}

func (b broken) Renew(ctx context.Context, c claim, lease time.Duration) error {
	if b.renew != nil {
		return b.renew(ctx, b.store, c, lease)
	}
	return b.store.Renew(ctx, c, lease)
}

func (b broken) Complete(ctx context.Context, c claim, r record, retention time.Duration) error {
	if b.complete != nil {
		return b.complete(ctx, b.store, c, r, retention)
	}
	return b.store.Complete(ctx, c, r, retention)
}

func (b broken) Release(ctx context.Context, c claim) error {
	if b.release != nil {
		return b.release(ctx, b.store, c)
	}
	return b.store.Release(ctx, c)
}

// sleepy is a Waiter that wakes nobody.
type sleepy struct{ store }

func (sleepy) Wait(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// table is a map for many goroutines.
type table[V any] struct{ m sync.Map }

func (t *table[V]) put(key string, v V) { t.m.Store(key, v) }

func (t *table[V]) get(key string) (v V) {
	if found, ok := t.m.Load(key); ok {
		v = found.(V)
	}
	return v
}

// mutants are stores with one fault each, and a case that must catch it.
var mutants = map[string]struct {
	caughtBy string
	make     func(s store) store
}{
	"lets everybody begin": {"of_many_at_once_exactly_one_begins", func(s store) store {
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
			r, err := s.Begin(ctx, c, f, lease)
			if r.State == idempotency.InFlight {
				r.State = idempotency.Started
			}
			return r, err
		}}
	}},
	"looks before it leaps": {"of_many_at_once_exactly_one_begins", func(s store) store {
		var taken table[bool]
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
			if taken.get(c.Key) {
				return s.Begin(ctx, c, f, lease)
			}
			time.Sleep(time.Microsecond) // another one looks
			taken.put(c.Key, true)
			if r, err := s.Begin(ctx, c, f, lease); r.State != idempotency.InFlight {
				return r, err
			}
			return result{State: idempotency.Started}, nil
		}}
	}},
	"ignores the payload in flight": {"another_payload_is_a_mismatch_even_while_in_flight", func(s store) store {
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
			r, err := s.Begin(ctx, c, f, lease)
			if r.State == idempotency.Mismatched {
				r = result{State: idempotency.InFlight, Remaining: lease}
			}
			return r, err
		}}
	}},
	"does not know its owner again": {"the_owner_may_begin_again_because_the_answer_was_lost", func(s store) store {
		var begun table[bool]
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
			r, err := s.Begin(ctx, c, f, lease)
			again := begun.get(c.Key + string(c.Owner[:]))
			begun.put(c.Key+string(c.Owner[:]), true)
			if again && r.State == idempotency.Started {
				r = result{State: idempotency.InFlight, Remaining: lease}
			}
			return r, err
		}}
	}},
	"lets anybody complete": {"a_stale_owner_cannot_disturb_its_successor", func(s store) store {
		var owner table[idempotency.Token]
		return broken{store: s,
			begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
				r, err := s.Begin(ctx, c, f, lease)
				if r.State == idempotency.Started {
					owner.put(c.Key, c.Owner)
				}
				return r, err
			},
			complete: func(ctx context.Context, s store, c claim, r record, retention time.Duration) error {
				c.Owner = owner.get(c.Key)
				return s.Complete(ctx, c, r, retention)
			},
		}
	}},
	"renews what is lost": {"an_owner_whose_lease_has_passed_is_fenced_off", func(s store) store {
		return broken{store: s, renew: func(ctx context.Context, s store, c claim, lease time.Duration) error {
			_ = s.Renew(ctx, c, lease)
			return ctx.Err()
		}}
	}},
	"does not renew": {"a_renewed_lease_outlives_the_first_one", func(s store) store {
		return broken{store: s, renew: func(ctx context.Context, s store, c claim, _ time.Duration) error {
			return s.Renew(ctx, c, time.Millisecond)
		}}
	}},
	"holds keys for ever": {"the_key_of_an_owner_that_was_killed_is_free_after_the_lease", func(s store) store {
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, _ time.Duration) (result, error) {
			return s.Begin(ctx, c, f, time.Hour)
		}}
	}},
	"keeps answers only for the lease": {"a_record_outlives_the_lease_of_its_work", func(s store) store {
		return broken{store: s, complete: func(ctx context.Context, s store, c claim, r record, _ time.Duration) error {
			return s.Complete(ctx, c, r, 500*time.Millisecond)
		}}
	}},
	"keeps answers for ever": {"a_record_is_gone_after_its_retention", func(s store) store {
		return broken{store: s, complete: func(ctx context.Context, s store, c claim, r record, _ time.Duration) error {
			return s.Complete(ctx, c, r, time.Hour)
		}}
	}},
	"cuts answers at a zero byte": {"an_answer_is_replayed_byte_for_byte", func(s store) store {
		return broken{store: s, complete: func(ctx context.Context, s store, c claim, r record, retention time.Duration) error {
			text, _, _ := strings.Cut(string(r.Answer), "\x00")
			r.Answer = []byte(text)
			return s.Complete(ctx, c, r, retention)
		}}
	}},
	"forgets that an answer was omitted": {"an_answer_that_was_omitted_is_told_as_such", func(s store) store {
		return broken{store: s, complete: func(ctx context.Context, s store, c claim, r record, retention time.Duration) error {
			r.Omitted = false
			return s.Complete(ctx, c, r, retention)
		}}
	}},
	"completes only once": {"to_complete_again_is_harmless", func(s store) store {
		var done table[bool]
		return broken{store: s, complete: func(ctx context.Context, s store, c claim, r record, retention time.Duration) error {
			if done.get(c.Key) {
				return idempotency.ErrLeaseLost
			}
			err := s.Complete(ctx, c, r, retention)
			done.put(c.Key, err == nil)
			return err
		}}
	}},
	"shares its slices": {"the_store_keeps_no_slice_that_it_gave_away", func(s store) store {
		var answers table[[]byte]
		return broken{store: s,
			begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
				r, err := s.Begin(ctx, c, f, lease)
				if r.State == idempotency.Completed {
					r.Record.Answer = answers.get(c.Key)
				}
				return r, err
			},
			complete: func(ctx context.Context, s store, c claim, r record, retention time.Duration) error {
				answers.put(c.Key, r.Answer)
				return s.Complete(ctx, c, r, retention)
			},
		}
	}},
	"does not release": {"a_released_key_is_free_at_once", func(s store) store {
		return broken{store: s, release: func(ctx context.Context, _ store, _ claim) error { return ctx.Err() }}
	}},
	"releases what is completed": {"who_has_completed_does_not_own_the_key", func(s store) store {
		return broken{store: s, release: func(ctx context.Context, s store, c claim) error {
			if err := s.Release(ctx, c); err == nil || c.Owner == (idempotency.Token{}) {
				return err
			}
			return ctx.Err()
		}}
	}},
	"ignores that its caller gave up": {"nothing_begins_on_a_cancelled_context", func(s store) store {
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
			return s.Begin(context.WithoutCancel(ctx), c, f, lease)
		}}
	}},
	"trims keys": {"keys_are_independent", func(s store) store {
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
			c.Key = strings.TrimSpace(c.Key)
			return s.Begin(ctx, c, f, lease)
		}}
	}},
	"has no bounds": {"a_full_store_refuses_and_drops_nothing_that_is_alive", func(s store) store {
		return broken{store: s, begin: func(ctx context.Context, s store, c claim, f fingerprint, lease time.Duration) (result, error) {
			r, err := s.Begin(ctx, c, f, lease)
			if errors.Is(err, idempotency.ErrStoreFull) {
				return result{State: idempotency.Started}, nil
			}
			return r, err
		}}
	}},
	"wakes nobody": {"those_who_wait_wake_when_the_work_is_completed", func(s store) store {
		return sleepy{s}
	}},
}

const mutantName = "IDEMPOTENCYTEST_MUTANT"

// TestMutant runs the suite against one broken store; TestTheSuiteCatches
// starts it in a process of its own and wants it to fail.
func TestMutant(t *testing.T) {
	mutant, ok := mutants[os.Getenv(mutantName)]
	if !ok {
		t.Skip("runs only below TestTheSuiteCatches")
	}
	open := func(t *testing.T) store { return mutant.make(memory(t, 0)) }
	full := func(t *testing.T, keys int) store { return mutant.make(memory(t, keys)) }
	idempotencytest.Run(t, open, idempotencytest.Options{Each: synctest.Test, Goroutines: 20, Full: full})
}

func TestTheSuiteCatches(t *testing.T) {
	for name, mutant := range mutants {
		t.Run("a store that "+name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMutant$", "-test.timeout=30s")
			cmd.Env = append(os.Environ(), mutantName+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestMutant/"+mutant.caughtBy) {
				t.Errorf("not caught by %q: %v\n%s", mutant.caughtBy, err, out)
			}
		})
	}
}
