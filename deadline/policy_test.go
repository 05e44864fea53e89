package deadline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/testkit"
)

func policy(t *testing.T, c deadline.Config) *deadline.Policy {
	t.Helper()
	p, err := deadline.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlan(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name      string
		config    deadline.Config
		remaining time.Duration
		bounded   bool
		want      deadline.Budget
	}{
		{"no deadline: the total", deadline.Config{}, 0, false, deadline.Budget{Limit: 10 * s, Left: 10 * s}},
		{"no deadline, no total: nothing", deadline.Config{Total: deadline.NoTotal}, 0, false, deadline.Budget{}},
		{"a later deadline: the total", deadline.Config{}, 20 * s, true, deadline.Budget{Limit: 10 * s, Left: 10 * s}},
		{"an earlier deadline serves as it is", deadline.Config{}, 5 * s, true, deadline.Budget{Left: 5 * s}},
		{"the reserve is taken off", deadline.Config{Reserve: s}, 5 * s, true, deadline.Budget{Limit: 4 * s, Left: 4 * s}},
		{"less than the reserve is late", deadline.Config{Reserve: s}, s, true, deadline.Budget{Late: true}},
		{"less than needed is late", deadline.Config{Need: 2 * s}, s, true, deadline.Budget{Left: s, Late: true}},
		{"just what is needed will do", deadline.Config{Need: s}, s, true, deadline.Budget{Left: s}},
		{"a deadline that has passed is late", deadline.Config{}, -s, true, deadline.Budget{Left: -s, Late: true}},
	} {
		if got := policy(t, c.config).Plan(c.remaining, c.bounded); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestTheTotalEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, last := time.Now(), errors.New("connection reset")
		_, err := deadline.Do(t.Context(), policy(t, deadline.Config{}), func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, last
		})
		var e *deadline.Error
		if !errors.As(err, &e) || e.Total != deadline.DefaultTotal || !errors.Is(err, last) {
			t.Fatalf("error %v", err)
		}
		if !errors.Is(err, deadline.ErrExceeded) || !errors.Is(err, context.DeadlineExceeded) || !e.Timeout() {
			t.Error("must match ErrExceeded and context.DeadlineExceeded")
		}
		if took := time.Since(began); took != deadline.DefaultTotal {
			t.Errorf("took %v", took)
		}
	})
}

func TestTheTotalBoundsTheReadingOfTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inner context.Context
		r, err := deadline.Run(t.Context(), policy(t, deadline.Config{}), new(testkit.Fake), "q", func(ctx context.Context, _ string) (*testkit.Reply, error) {
			inner = ctx
			return &testkit.Reply{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-inner.Done()
		if inner.Err() != context.DeadlineExceeded {
			t.Error(inner.Err())
		}
		r.Close()
	})
}

func TestAReserveOfAnUnboundedCallIsThatOfItsCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, deadline.Config{Total: time.Second, Reserve: 100 * time.Millisecond})
		for _, c := range []struct{ callers, want time.Duration }{
			{0, -1}, {time.Minute, time.Minute - 100*time.Millisecond},
		} {
			ctx, cancel := deadline.Unbounded(t.Context()), func() {}
			if c.callers > 0 {
				ctx, cancel = context.WithTimeout(ctx, c.callers)
			}
			got, err := deadline.Do(ctx, p, func(ctx context.Context) (time.Duration, error) {
				if left, bounded := deadline.Remaining(ctx); bounded {
					return left, nil
				}
				return -1, nil
			})
			if got != c.want || err != nil {
				t.Errorf("a caller with %v has %v left, %v; want %v", c.callers, got, err, c.want)
			}
			cancel()
		}
	})
}

func TestAnUnboundedCallOutlivesTheTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := deadline.Do(deadline.Unbounded(t.Context()), policy(t, deadline.Config{}), func(ctx context.Context) (int, error) {
			time.Sleep(time.Hour)
			return 0, ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestALateCallIsRefusedBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx, report := backstay.WithReport(ctx)
		called := false
		_, err := deadline.Do(ctx, policy(t, deadline.Config{Need: 2 * time.Second}), func(context.Context) (int, error) {
			called = true
			return 0, nil
		})
		var late *deadline.TooLateError
		if called || !errors.As(err, &late) || late.Remaining != time.Second || late.Need != 2*time.Second {
			t.Fatalf("called %v, error %v", called, err)
		}
		if !errors.Is(err, backstay.ErrRejected) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error("must match ErrRejected and context.DeadlineExceeded")
		}
		if got := report.Summary().Reason; got != backstay.ReasonTooLate {
			t.Errorf("reason %q", got)
		}
	})
}

func TestTheReportOfACallThatTookTooLongSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, report := backstay.WithReport(t.Context())
		_, err := deadline.Do(ctx, policy(t, deadline.Config{}), func(ctx context.Context) (int, error) {
			<-ctx.Done()
			backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonCanceled }) // as a retry would
			return 0, ctx.Err()
		})
		if got := report.Summary().Reason; !errors.Is(err, deadline.ErrExceeded) || got != backstay.ReasonNoTime {
			t.Errorf("reason %q, error %v", got, err)
		}
	})
}

func TestATotalThatPassedInAQueueIsARejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := backstay.Mark(errors.Join(backstay.ErrRejected, errors.New("full")), backstay.Outcome{Class: backstay.Rejected})
		for want, err := range map[backstay.Class]error{backstay.Rejected: full, backstay.Fault: errors.New("reset")} {
			ctx, report := backstay.WithReport(t.Context())
			_, got := deadline.Do(ctx, policy(t, deadline.Config{}), func(ctx context.Context) (int, error) {
				<-ctx.Done()
				backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonBulkheadFull })
				return 0, err
			})
			if o := backstay.Classify(got); o.Class != want || !errors.Is(got, deadline.ErrExceeded) {
				t.Errorf("%v is %v, want %v", got, o.Class, want)
			}
			if r := report.Summary().Reason; r != backstay.ReasonBulkheadFull {
				t.Errorf("reason %q", r)
			}
		}
	})
}

func TestADeadContextReachesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("user pressed stop")
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		past, cancel2 := context.WithTimeout(t.Context(), time.Second)
		defer cancel2()
		time.Sleep(2 * time.Second)
		for name, c := range map[string]struct {
			ctx  context.Context
			want []error
		}{
			"cancelled": {gone, []error{context.Canceled, why}},
			"past":      {past, []error{deadline.ErrTooLate, context.DeadlineExceeded}},
		} {
			_, err := deadline.Do(c.ctx, policy(t, deadline.Config{}), func(context.Context) (int, error) {
				t.Errorf("%s: called", name)
				return 0, nil
			})
			for _, w := range c.want {
				if !errors.Is(err, w) {
					t.Errorf("%s: %v does not match %v", name, err, w)
				}
			}
		}
	})
}

func TestReserveNeedRemaining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, ok := deadline.Remaining(t.Context()); ok {
			t.Error("no deadline, but something remains")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		inner, cancel2 := deadline.Reserve(ctx, 300*time.Millisecond)
		defer cancel2()
		if d, ok := deadline.Remaining(inner); !ok || d != 700*time.Millisecond {
			t.Errorf("remaining %v", d)
		}
		if err := deadline.Need(inner, 700*time.Millisecond); err != nil {
			t.Error(err)
		}
		if err := deadline.Need(inner, 701*time.Millisecond); !errors.Is(err, deadline.ErrTooLate) {
			t.Error(err)
		}
		free, cancel3 := deadline.Reserve(t.Context(), time.Second)
		if _, ok := free.Deadline(); ok {
			t.Error("a reserve made a deadline out of nothing")
		}
		cancel3()
		if err := deadline.Need(free, time.Hour); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestABadConfigurationNamesEveryFault(t *testing.T) {
	_, err := deadline.New(deadline.Config{Total: -5, Reserve: -1, Need: -1})
	for _, path := range []string{"deadline.total", "deadline.reserve", "deadline.need"} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q is not named in: %v", path, err)
		}
	}
	if err := (deadline.Config{Total: -5}).Validate(); err == nil || strings.Contains(err.Error(), "need") {
		t.Errorf("a fault of total is put on need, too: %v", err)
	}
	if _, err := deadline.New(deadline.Config{Total: time.Second, Need: time.Minute}); err == nil {
		t.Error("a need longer than the total can never be met")
	}
}

func TestASuccessWithinTheTotalCostsItsContext(t *testing.T) {
	p := policy(t, deadline.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sum := 0
	testkit.Allocs(t, 1, func() {
		_, _ = deadline.Do(ctx, p, func(context.Context) (int, error) { sum++; return sum, nil })
	})
}

func TestTheSuccessPathIsFreeUnderAnEarlierDeadline(t *testing.T) {
	p := policy(t, deadline.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), deadline.DefaultTotal/2)
	defer cancel()
	sum := 0
	testkit.Allocs(t, 0, func() {
		_, _ = deadline.Do(ctx, p, func(context.Context) (int, error) {
			sum++
			return sum, nil
		})
	})
}
