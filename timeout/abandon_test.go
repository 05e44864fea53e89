package timeout_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/timeout"
)

func TestAbandonReturnsAtTheLimitThoughTheCalleeDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		began := time.Now()
		_, err := timeout.Do(t.Context(), p, func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 1, nil
		})
		if took := time.Since(began); took != timeout.DefaultAfter || !errors.Is(err, timeout.ErrTimeout) {
			t.Errorf("%v after %v", err, took)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("Close returned after %v, before the callee", took)
		}
	})
}

func TestAnAbandonedAnswerIsDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		x, late := new(testkit.Fake), &testkit.Reply{}
		slow := func(context.Context, string) (*testkit.Reply, error) {
			time.Sleep(time.Minute)
			return late, nil
		}
		_, err := timeout.Abandon(t.Context(), p, x, "q", func(ctx context.Context, q string) (*testkit.Reply, error) {
			return timeout.Run(ctx, p, x, q, slow)
		})
		if !errors.Is(err, timeout.ErrTimeout) {
			t.Fatal(err)
		}
		_ = p.Close(t.Context())
		if late.Discarded.Load() != 1 {
			t.Errorf("discarded %d times", late.Discarded.Load())
		}
	})
}

func TestAbandonReturnsAnAnswerInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		for range 100 {
			v, err := timeout.Do(t.Context(), p, func(ctx context.Context) (int, error) {
				time.Sleep(time.Millisecond)
				return 7, nil
			})
			if v != 7 || err != nil {
				t.Fatal(v, err)
			}
		}
	})
}

func TestAbandonLeavesWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		why := errors.New("user pressed stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		began := time.Now()
		_, err := timeout.Do(ctx, p, func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 1, nil
		})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, why) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		_ = p.Close(t.Context())
	})
}

func TestTheLimitStartsWhenTheAttemptDoesNotWhenItIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		x := backstay.Plain[int]{}
		began := time.Now()
		_, err := timeout.Abandon(t.Context(), p, x, struct{}{}, func(ctx context.Context, q struct{}) (int, error) {
			time.Sleep(10 * time.Second) // a queue before the attempt
			return timeout.Run(ctx, p, x, q, func(context.Context, struct{}) (int, error) {
				time.Sleep(time.Minute)
				return 0, nil
			})
		})
		if took := time.Since(began); took != 12*time.Second || !errors.Is(err, timeout.ErrTimeout) {
			t.Errorf("%v after %v", err, took)
		}
		_ = p.Close(t.Context())
	})
}

func TestALatePanicIsToldAndCrashesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []backstay.Kind
		p, err := timeout.New(timeout.Config{Abandon: true}, timeout.WithScope(&backstay.Scope{
			Observer: backstay.ObserverFunc(func(_ context.Context, e backstay.Event) { told = append(told, e.Kind) }),
		}))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = timeout.Do(t.Context(), p, func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			panic("late")
		})
		_ = p.Close(t.Context())
		if len(told) != 1 || told[0] != backstay.CallbackPanicked {
			t.Errorf("told %v", told)
		}
	})
}

func TestAGoexitReachesTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		returnedNormally := false
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = timeout.Do(t.Context(), p, func(context.Context) (int, error) {
				runtime.Goexit()
				return 0, nil
			})
			returnedNormally = true
		}()
		<-done
		if returnedNormally {
			t.Error("the exit was swallowed")
		}
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		_, _ = timeout.Do(t.Context(), p, func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 0, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		// Closed: the next attempt is waited for, so nothing can be left behind.
		began := time.Now()
		_, err := timeout.Do(t.Context(), p, func(context.Context) (int, error) {
			time.Sleep(time.Hour)
			return 0, nil
		})
		if time.Since(began) != time.Hour || !errors.Is(err, timeout.ErrTimeout) {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// What the callee calls under a policy that abandons, too, has a limit of its
// own, which is none of the outer call's.
func TestALimitWithinAnAbandonedCallIsNotTheCallsOwn(t *testing.T) {
	for name, again := range map[string]bool{"of another policy": false, "of the same policy": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outer := policy(t, timeout.Config{After: 10 * time.Second, Abandon: true})
				inner := outer
				if !again {
					inner = policy(t, timeout.Config{Abandon: true})
				}
				began := time.Now()
				x := backstay.Plain[int]{}
				_, err := timeout.Do(t.Context(), outer, func(ctx context.Context) (int, error) {
					_, err := timeout.Run(timeout.With(ctx, time.Second), inner, x, struct{}{}, func(ctx context.Context, _ struct{}) (int, error) {
						<-ctx.Done()
						return 0, ctx.Err()
					})
					if !errors.Is(err, timeout.ErrTimeout) {
						t.Errorf("within: %v", err)
					}
					time.Sleep(time.Minute)
					return 0, nil
				})
				late, ok := errors.AsType[*timeout.Error](err)
				if took := time.Since(began); !ok || late.After != 10*time.Second || took != 10*time.Second {
					t.Errorf("%v after %v", err, took)
				}
				_ = outer.Close(t.Context())
			})
		})
	}
}

// Where the caller's deadline comes first, the attempt has no limit of its own,
// and must not take that of a call within for it.
func TestALimitWithinACallWithoutALimitIsNotTheCallsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer := policy(t, timeout.Config{After: time.Hour, Abandon: true})
		inner := policy(t, timeout.Config{After: time.Second, Abandon: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err := timeout.Do(ctx, outer, func(ctx context.Context) (int, error) {
			x := backstay.Plain[int]{}
			_, err := timeout.Run(ctx, inner, x, struct{}{}, func(ctx context.Context, _ struct{}) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			})
			if !errors.Is(err, timeout.ErrTimeout) {
				t.Errorf("within: %v", err)
			}
			time.Sleep(time.Second)
			return 7, nil
		})
		if got != 7 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	})
}

func TestClonesAbandonOnTheirOwnAndCloseWithTheirOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{Abandon: true})
		a, b := p.Clone(&backstay.Scope{Policy: "a"}), p.Clone(nil)
		slow := func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 0, nil
		}
		_, err := timeout.Do(t.Context(), a, slow)
		if late, ok := errors.AsType[*timeout.Error](err); !ok || late.Name != "a" || late.After != timeout.DefaultAfter {
			t.Errorf("a clone's error: %v", err)
		}
		if a.Late() != 1 || b.Late() != 0 || p.Late() != 1 {
			t.Errorf("late: %d, %d and %d", a.Late(), b.Late(), p.Late())
		}
		began := time.Now()
		if err := b.Close(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("a clone waits for the other: %v", err)
		}
		if err := p.Close(t.Context()); err != nil || time.Since(began) != time.Minute-timeout.DefaultAfter {
			t.Errorf("the origin was closed after %v: %v", time.Since(began), err)
		}
		began = time.Now()
		if _, err := timeout.Do(t.Context(), a, slow); err == nil || time.Since(began) != time.Minute {
			t.Errorf("after Close an attempt was left behind after %v", time.Since(began))
		}
	})
	var none *timeout.Policy
	if none.Clone(nil) != nil || none.Late() != 0 {
		t.Error("a nil policy")
	}
}
