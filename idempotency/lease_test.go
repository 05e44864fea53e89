package idempotency_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

func TestALeaseIsRenewedWhileTheWorkRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renewals := 0
		store := &hooked{Store: newMemory(t), renew: func(context.Context) error { renewals++; return nil }}
		guard := guardOver(t, store, idempotency.GuardConfig{MaxWait: time.Hour})
		go func() {
			_, _, _ = guard.Run(t.Context(), request("k", "body"), lasting(295*time.Second, "the first's"))
		}()
		synctest.Wait()
		began := time.Now()
		got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t))
		if err != nil || !replayed || string(got.Data) != "the first's" {
			t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
		}
		if waited := time.Since(began); waited < 295*time.Second || waited > 296*time.Second {
			t.Errorf("waited %v, want 295s and at most one poll", waited)
		}
		if renewals != 29 { // every 10 s, the first after 10 s, none at the end
			t.Errorf("the lease was renewed %d times, want 29", renewals)
		}
	})
}

func TestShortWorkIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: newMemory(t), renew: func(context.Context) error { t.Error("renewed"); return nil }}
		guard := guardOver(t, store, idempotency.GuardConfig{})
		if _, _, err := guard.Run(t.Context(), request("k", "body"), lasting(9*time.Second, "answer")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // nor afterwards
	})
}

func TestALeaseIsRenewedPastTheTimeoutOfWorkThatDoesNotHeedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(t, idempotency.GuardConfig{MaxWait: time.Hour, Grace: idempotency.NoGrace})
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _, _ = guard.Run(ctx, request("k", "body"), func(context.Context) (idempotency.Answer, error) {
				time.Sleep(5 * time.Minute)
				return idempotency.Answer{Data: []byte("late")}, nil
			})
		}()
		synctest.Wait()
		got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t))
		if err != nil || !replayed || string(got.Data) != "late" {
			t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
		}
	})
}

// ends tells when and why the context of work ends.
type ends struct {
	after       time.Duration
	err, cause  error
	hasDeadline bool
}

// watch runs work that waits for the end of its context.
func watch(t *testing.T, ctx context.Context, c idempotency.GuardConfig) (got ends) {
	t.Helper()
	began := time.Now()
	_, _, err := newGuard(t, c).Run(ctx, request("k", "body"), func(ctx context.Context) (idempotency.Answer, error) {
		_, got.hasDeadline = ctx.Deadline()
		<-ctx.Done()
		got.after, got.err, got.cause = time.Since(began), ctx.Err(), context.Cause(ctx)
		return idempotency.Answer{}, ctx.Err()
	})
	if !errors.Is(err, got.err) {
		t.Errorf("Run: %v, want %v", err, got.err)
	}
	return got
}

func TestTheContextOfWorkEndsGraceAfterItsCaller(t *testing.T) {
	hungUp := errors.New("hung up")
	cancelAfter := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		timer := time.AfterFunc(time.Second, func() { cancel(hungUp) })
		return ctx, func() { timer.Stop(); cancel(nil) }
	}
	deadlineAfter := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, time.Second)
	}
	for name, c := range map[string]struct {
		give  func(context.Context) (context.Context, context.CancelFunc)
		grace time.Duration
		want  ends
	}{
		"a cancelled caller":              {cancelAfter, 0, ends{6 * time.Second, context.Canceled, hungUp, false}},
		"a caller with a deadline":        {deadlineAfter, 0, ends{6 * time.Second, context.DeadlineExceeded, context.DeadlineExceeded, true}},
		"a cancelled caller, short grace": {cancelAfter, 2 * time.Second, ends{3 * time.Second, context.Canceled, hungUp, false}},
		"a cancelled caller, no grace":    {cancelAfter, idempotency.NoGrace, ends{time.Second, context.Canceled, hungUp, false}},
		"a caller's deadline, no grace":   {deadlineAfter, idempotency.NoGrace, ends{time.Second, context.DeadlineExceeded, context.DeadlineExceeded, true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := c.give(t.Context())
				defer cancel()
				got := watch(t, ctx, idempotency.GuardConfig{Grace: c.grace})
				if got.after != c.want.after || !errors.Is(got.err, c.want.err) || !errors.Is(got.cause, c.want.cause) ||
					got.hasDeadline != c.want.hasDeadline {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			})
		})
	}
}

func TestTheContextOfWorkCarriesTheValuesOfItsCallerAndTheKey(t *testing.T) {
	type name struct{}
	ctx := context.WithValue(context.Background(), name{}, "value")
	for _, grace := range []time.Duration{0, idempotency.NoGrace} {
		var kept context.Context
		guard := newGuard(t, idempotency.GuardConfig{Grace: grace})
		_, _, err := guard.Run(ctx, request("k", "body"), func(ctx context.Context) (idempotency.Answer, error) {
			if ctx.Value(name{}) != "value" || idempotency.IncomingKey(ctx) != "k" {
				t.Errorf("it carries %v and the key %q", ctx.Value(name{}), idempotency.IncomingKey(ctx))
			}
			if key := idempotency.KeyFrom(ctx); key != "" {
				t.Errorf("outgoing calls would carry the key %q", key)
			}
			kept = ctx
			return idempotency.Answer{}, nil
		})
		if err != nil {
			t.Error(err)
		}
		if kept.Err() == nil {
			t.Error("the context outlives the work")
		}
	}
}

// afterFirst is a hook that lets the first call through.
func afterFirst(hook func(context.Context) error) func(context.Context) error {
	var calls atomic.Int32
	return func(ctx context.Context) error {
		if calls.Add(1) == 1 {
			return nil
		}
		return hook(ctx)
	}
}

func TestAnOwnerThatLostItsLeaseIsToldAndHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, seen := newMemory(t), new(events)
		renewal := errors.New("partitioned")
		partitioned := func(context.Context) error { return renewal }
		store := &hooked{Store: memory, renew: partitioned, begin: afterFirst(partitioned)}
		store.release = func(context.Context) error { t.Error("released what it does not own"); return nil }
		guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
		began := time.Now()
		_, _, err := guard.Run(t.Context(), request("k", "body"), func(ctx context.Context) (idempotency.Answer, error) {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), idempotency.ErrLeaseLost) || time.Since(began) != 30*time.Second {
				t.Errorf("after %v the context ends with %v, want ErrLeaseLost after 30s", time.Since(began), context.Cause(ctx))
			}
			successor, _, err := guardOver(t, memory, idempotency.GuardConfig{}).Run(
				t.Context(), request("k", "body"), answering("the successor's"))
			if err != nil || string(successor.Data) != "the successor's" {
				t.Errorf("the successor got %q, %v", successor.Data, err)
			}
			return idempotency.Answer{}, ctx.Err()
		})
		e, ok := errors.AsType[*idempotency.Error](err)
		if !ok || !errors.Is(err, idempotency.ErrLeaseLost) || !errors.Is(err, context.Canceled) ||
			e.HTTPStatus() != 409 || e.RetryAfter != time.Second {
			t.Errorf("Run: %v, want ErrLeaseLost around context.Canceled", err)
		}
		if told := seen.only(t, idempotency.LeaseLost); !errors.Is(told.Err, renewal) || told.Policy != "payments" {
			t.Errorf("told %+v", told)
		}
		got, _, err := guardOver(t, memory, idempotency.GuardConfig{}).Run(t.Context(), request("k", "body"), never(t))
		if err != nil || string(got.Data) != "the successor's" {
			t.Errorf("later: %q, %v", got.Data, err)
		}
	})
}

func TestAnOwnErrorOfWorkIsNotHiddenByALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := func(context.Context) error { return idempotency.ErrLeaseLost }
		store := &hooked{Store: newMemory(t), renew: lost, begin: afterFirst(lost)}
		seen := new(events)
		guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
		declined := errors.New("card declined")
		_, _, err := guard.Run(t.Context(), request("k", "body"), func(ctx context.Context) (idempotency.Answer, error) {
			<-ctx.Done()
			return idempotency.Answer{}, declined
		})
		if err != declined {
			t.Errorf("got %v, want the work's own error", err)
		}
		if told, _ := errors.AsType[*idempotency.Error](seen.only(t, idempotency.LeaseLost).Err); told.Cause != nil {
			t.Errorf("told %v, which says the same twice", told)
		}
	})
}

func TestARenewalThatFailsForAWhileLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		store := &hooked{Store: newMemory(t), begin: afterFirst(func(context.Context) error { return errStore })}
		store.renew = func(context.Context) error {
			if at := time.Since(began) % time.Minute; at < 25*time.Second { // in each minute anew
				return errStore
			}
			return nil
		}
		guard := guardOver(t, store, idempotency.GuardConfig{})
		got, _, err := guard.Run(t.Context(), request("k", "body"), lasting(5*time.Minute, "answer"))
		if err != nil || string(got.Data) != "answer" {
			t.Errorf("got %q, %v", got.Data, err)
		}
	})
}

func TestAStoreThatHangsCostsTheLeaseInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		store := &hooked{Store: newMemory(t), renew: hang, begin: afterFirst(hang)}
		guard := guardOver(t, store, idempotency.GuardConfig{})
		began := time.Now()
		_, _, err := guard.Run(t.Context(), request("k", "body"), lasting(time.Hour, "answer"))
		if !errors.Is(err, idempotency.ErrLeaseLost) || time.Since(began) > 32*time.Second {
			t.Errorf("got %v after %v, want ErrLeaseLost after the lease of 30s and two moments of patience", err, time.Since(began))
		}
	})
}

func TestAStoreThatPanicsWhileRenewingDoesNotEndTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics atomic.Int32
		store := &hooked{Store: newMemory(t), renew: func(context.Context) error {
			if panics.Add(1) < 3 {
				panic("the store is broken")
			}
			return nil
		}}
		guard := guardOver(t, store, idempotency.GuardConfig{})
		if _, _, err := guard.Run(t.Context(), request("k", "body"), lasting(time.Minute, "answer")); err != nil || panics.Load() < 3 {
			t.Errorf("%v after %d panics", err, panics.Load())
		}
	})
}

func TestAnOwnerThatStoodStillTakesItsKeyBackIfNobodyElseDid(t *testing.T) {
	for name, takes := range map[string]time.Duration{"while it works": 2 * time.Minute, "to leave its answer": 35 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := true
				store := &hooked{Store: newMemory(t), renew: func(context.Context) error {
					if first {
						time.Sleep(50 * time.Second) // the process is stopped, and continued
					}
					first = false
					return nil
				}}
				seen := new(events)
				guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
				_, _, err := guard.Run(t.Context(), request("k", "body"), lasting(takes, "answer"))
				if err != nil {
					t.Fatal(err)
				}
				if told := seen.Take(); len(told) > 0 {
					t.Errorf("told %v", told)
				}
				got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t))
				if err != nil || !replayed || string(got.Data) != "answer" {
					t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
				}
			})
		})
	}
}

func TestAnOwnerThatStoodStillDoesNotOverwriteItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, seen := newMemory(t), new(events)
		store := &hooked{Store: memory, renew: func(context.Context) error { time.Sleep(time.Minute); return nil }}
		guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
		got, replayed, err := guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
			time.Sleep(40 * time.Second)
			second := guardOver(t, memory, idempotency.GuardConfig{})
			if _, _, err := second.Run(t.Context(), request("k", "body"), answering("the successor's")); err != nil {
				t.Error(err)
			}
			return idempotency.Answer{Data: []byte("stale")}, nil
		})
		if err != nil || replayed || string(got.Data) != "stale" { // it was done, and by this call
			t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
		}
		if told := seen.only(t, idempotency.AnswerNotKept); !errors.Is(told.Err, idempotency.ErrLeaseLost) {
			t.Errorf("told %v", told.Err)
		}
		got, _, err = guard.Run(t.Context(), request("k", "body"), never(t))
		if err != nil || string(got.Data) != "the successor's" {
			t.Errorf("later: %q, %v", got.Data, err)
		}
	})
}

func TestAnObserverThatPanicsOrExitsHarmsNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer := backstay.ObserverFunc(func(context.Context, backstay.Event) { panic("observer") })
		guard := newGuard(t, idempotency.GuardConfig{}, idempotency.WithScope(&backstay.Scope{Observer: observer}))
		for range 2 {
			if got, _, err := guard.Run(t.Context(), request("k", "body"), answering("answer")); err != nil || string(got.Data) != "answer" {
				t.Errorf("got %q, %v", got.Data, err)
			}
		}
		if _, _, err := guard.Run(t.Context(), request("k", "other"), never(t)); !errors.Is(err, idempotency.ErrMismatch) {
			t.Error(err)
		}
	})
}
