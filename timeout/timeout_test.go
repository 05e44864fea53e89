package timeout_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/timeout"
)

func policy(t *testing.T, c timeout.Config) *timeout.Policy {
	t.Helper()
	p, err := timeout.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hang waits for its context, as a polite callee does.
func hang(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestASlowAttemptEndsAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := timeout.Do(t.Context(), policy(t, timeout.Config{}), hang)
		if took := time.Since(began); took != timeout.DefaultAfter {
			t.Errorf("took %v", took)
		}
		var e *timeout.Error
		if !errors.As(err, &e) || e.After != timeout.DefaultAfter {
			t.Fatalf("error %v", err)
		}
		if !errors.Is(err, timeout.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error("must match ErrTimeout and context.DeadlineExceeded")
		}
		if n, ok := err.(net.Error); !ok || !n.Timeout() {
			t.Error("must be a net.Error that timed out")
		}
		if o := backstay.Classify(err); o.Class != backstay.Transient {
			t.Errorf("class %v", o.Class)
		}
	})
}

func TestTheCallersOwnDeadlineIsNotATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := timeout.Do(ctx, policy(t, timeout.Config{}), hang)
		if errors.Is(err, timeout.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestTheCallersCancelCauseSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("user pressed stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := timeout.Do(ctx, policy(t, timeout.Config{}), func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		})
		if !errors.Is(err, why) || errors.Is(err, timeout.ErrTimeout) {
			t.Errorf("error %v", err)
		}
	})
}

func TestAnAnswerAfterTheLimitIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, late := new(testkit.Fake), &testkit.Reply{}
		_, err := timeout.Run(t.Context(), policy(t, timeout.Config{}), x, "q", func(context.Context, string) (*testkit.Reply, error) {
			time.Sleep(3 * time.Second) // ignores its context
			return late, nil
		})
		if !errors.Is(err, timeout.ErrTimeout) || late.Discarded.Load() != 1 || late.Bound.Load() != 0 {
			t.Errorf("error %v, discarded %d, bound %d", err, late.Discarded.Load(), late.Bound.Load())
		}
	})
}

func TestAnAnswerInTimeStreamsOnPastTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inner context.Context
		r, err := timeout.Run(t.Context(), policy(t, timeout.Config{}), new(testkit.Fake), "q", func(ctx context.Context, _ string) (*testkit.Reply, error) {
			inner = ctx
			inner.Done() // a transport waits on it
			time.Sleep(time.Second)
			return &testkit.Reply{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if inner.Err() != nil {
			t.Errorf("the limit cut the answer: %v", inner.Err())
		}
		r.Close()
		if inner.Err() == nil {
			t.Error("the context outlives the answer")
		}
	})
}

func TestPerCallLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, timeout.Config{})
		for _, c := range []struct {
			name string
			ctx  context.Context
			want time.Duration // 0: no timeout
		}{
			{"shorter", timeout.With(t.Context(), time.Second), time.Second},
			{"longer", timeout.With(t.Context(), time.Minute), time.Minute},
			{"off", timeout.With(t.Context(), timeout.Off), 0},
			{"nonsense is ignored", timeout.With(t.Context(), -7), timeout.DefaultAfter},
		} {
			began := time.Now()
			_, err := timeout.Do(c.ctx, p, func(ctx context.Context) (int, error) {
				select {
				case <-ctx.Done():
					return 0, ctx.Err()
				case <-time.After(time.Hour):
					return 1, nil
				}
			})
			took := time.Since(began)
			if c.want == 0 && err != nil || c.want != 0 && took != c.want {
				t.Errorf("%s: %v after %v", c.name, err, took)
			}
		}
	})
}

func TestTheLimitUnderAContext(t *testing.T) {
	p, err := timeout.New(timeout.Config{After: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		policy *timeout.Policy
		ctx    context.Context
		want   time.Duration
	}{
		{"the configured one", p, t.Context(), time.Minute},
		{"the call's own", p, timeout.With(t.Context(), time.Second), time.Second},
		{"taken off", p, timeout.With(t.Context(), timeout.Off), timeout.Off},
		{"no policy", nil, timeout.With(t.Context(), time.Second), timeout.Off},
	} {
		if got := c.policy.AfterUnder(c.ctx); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name      string
		after     time.Duration
		remaining time.Duration
		bounded   bool
		want      time.Duration
		ok        bool
	}{
		{"no deadline", 2 * time.Second, 0, false, 2 * time.Second, true},
		{"a later deadline", 2 * time.Second, 3 * time.Second, true, 2 * time.Second, true},
		{"an earlier deadline serves as it is", 2 * time.Second, time.Second, true, 0, false},
		{"the same moment serves as it is", 2 * time.Second, 2 * time.Second, true, 0, false},
		{"off", timeout.Off, 3 * time.Second, true, 0, false},
	} {
		if d, ok := timeout.Limit(c.after, c.remaining, c.bounded); d != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v", c.name, d, ok)
		}
	}
}

func TestABadConfigurationSaysWhere(t *testing.T) {
	_, err := timeout.New(timeout.Config{After: -2})
	var f *backstay.FieldError
	if !errors.As(err, &f) || f.Path != "timeout.after" {
		t.Errorf("error %v", err)
	}
}

func TestANilPolicyPassesThrough(t *testing.T) {
	if v, err := timeout.Do(t.Context(), nil, func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Error(v, err)
	}
}

// Acceptance case C51.
func TestC51_APanicPassesThroughAndEndsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, abandon := range []bool{false, true} {
			var inner context.Context
			func() {
				defer func() {
					if v := recover(); v != "boom" {
						t.Errorf("abandon %v: recovered %v", abandon, v)
					}
				}()
				_, _ = timeout.Do(t.Context(), policy(t, timeout.Config{Abandon: abandon}), func(ctx context.Context) (int, error) {
					inner = ctx
					panic("boom")
				})
			}()
			if inner.Err() == nil {
				t.Errorf("abandon %v: context alive", abandon)
			}
		}
	})
}

func TestASuccessWithinTheLimitCostsItsContext(t *testing.T) {
	p := policy(t, timeout.Config{After: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x, sum := backstay.Plain[int]{}, 0
	testkit.Allocs(t, 1, func() {
		_, _ = timeout.Run(ctx, p, x, struct{}{}, func(context.Context, struct{}) (int, error) {
			sum++
			return sum, nil
		})
	})
}

func TestTheSuccessPathIsFreeWhereTheCallersDeadlineIsEarlier(t *testing.T) {
	p := policy(t, timeout.Config{After: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x, sum := backstay.Plain[int]{}, 0
	testkit.Allocs(t, 0, func() {
		_, _ = timeout.Run(ctx, p, x, struct{}{}, func(context.Context, struct{}) (int, error) {
			sum++
			return sum, nil
		})
	})
}
