package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

// Acceptance case C31.
func TestC31_CallersThatGiveUpDoNotOpenABreakerAndBlackHolesDo(t *testing.T) {
	const slowAfter = time.Second
	hang := func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, fmt.Errorf("read: %w", ctx.Err())
	}
	for _, c := range []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want breaker.State
	}{
		{"30 cancellations", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(2*slowAfter, cancel)
			return ctx, cancel
		}, breaker.Closed},
		{"30 deadlines before SlowAfter", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, slowAfter-1)
		}, breaker.Closed},
		{"30 deadlines after SlowAfter", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, slowAfter)
		}, breaker.Open},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := newBreaker(t, breaker.Config{SlowAfter: slowAfter, OpenFor: time.Hour})
				for range 30 {
					ctx, cancel := c.ctx(t.Context())
					_, _ = breaker.Do(ctx, b, hang)
					cancel()
				}
				wantState(t, b, c.want)
			})
		})
	}
}

// Acceptance case C32.
func TestC32_ARefusedConnectionCountsAsAFailure(t *testing.T) {
	b, l := newBreaker(t, breaker.Config{})
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for range 20 {
		_ = call(t.Context(), b, refused)
	}
	wantState(t, b, breaker.Open)
	wantChanges(t, l, "closed>open")
	if n := len(l.of(backstay.CallRejected)); n != 10 {
		t.Errorf("%d of 20 calls were rejected, want all after the tenth", n)
	}
}

// Acceptance case C35a.
func TestC35a_TheCallersMistakesDoNotOpenABreaker(t *testing.T) {
	b, l := newBreaker(t, breaker.Config{})
	mistake := backstay.PermanentError(errors.New("404 not found"))
	for range 1000 {
		if err := call(t.Context(), b, mistake); !errors.Is(err, mistake) {
			t.Fatal(err)
		}
	}
	wantState(t, b, breaker.Closed)
	wantChanges(t, l)
	if got, want := b.Counts(), (breaker.Counts{Calls: 20}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// Acceptance case C36a.
func TestC36a_RightAnswersThatTakeTooLongOpenABreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, breaker.Config{SlowAfter: time.Second, SlowRatio: 0.5})
		for range 100 {
			_ = call(t.Context(), b, nil)
		}
		n := 0
		for range 20 {
			_, err := breaker.Do(t.Context(), b, func(context.Context) (int, error) {
				n++
				time.Sleep(5 * time.Second)
				return n, nil
			})
			if err != nil {
				break
			}
		}
		wantState(t, b, breaker.Open)
		if e := l.of(backstay.BreakerChanged)[0]; n != 10 || e.Reason != breaker.ReasonSlowRatio {
			t.Errorf("opened after %d calls, reason %s", n, e.Reason)
		}
	})
}

// Acceptance case C59.
func TestC59_TimeInAQueueOfOursIsNotSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, breaker.Config{SlowAfter: time.Second, SlowRatio: 0.5})
		for range 20 {
			began := backstay.Now()
			_, err := breaker.RunAt(t.Context(), &began, b, backstay.Plain[int]{}, struct{}{}, func(context.Context, struct{}) (int, error) {
				time.Sleep(3 * time.Second) // a bulkhead's queue
				began = backstay.Now()
				time.Sleep(time.Second - 1)
				return 0, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, want := b.Counts(), (breaker.Counts{Calls: 20}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
	})
}

func TestRefusalsOfLayersInsideAreNeutral(t *testing.T) {
	b, _ := newBreaker(t, breaker.Config{})
	for range 30 {
		_ = call(t.Context(), b, fmt.Errorf("bulkhead full: %w", backstay.ErrRejected))
	}
	if got := b.Counts(); got != (breaker.Counts{}) {
		t.Errorf("counts %+v, want none", got)
	}
}

func TestAPanicWhileClosedIsAFailureAndGoesOnItsWay(t *testing.T) {
	b, _ := newBreaker(t, twoFailures())
	for range 2 {
		func() {
			defer func() {
				if v := recover(); v != "boom" {
					t.Errorf("recovered %v", v)
				}
			}()
			_, _ = breaker.Do(t.Context(), b, func(context.Context) (int, error) { panic("boom") })
		}()
	}
	wantState(t, b, breaker.Open)
}

func TestLeavingTheGoroutineWhileClosedIsAFailure(t *testing.T) {
	b, _ := newBreaker(t, twoFailures())
	for range 2 {
		var gone sync.WaitGroup
		gone.Go(func() {
			_, _ = breaker.Do(context.Background(), b, func(context.Context) (int, error) {
				runtime.Goexit()
				return 0, nil
			})
		})
		gone.Wait()
	}
	wantState(t, b, breaker.Open)
}

func TestAHealthyCallNeverOpensABreaker(t *testing.T) {
	b, _ := newBreaker(t, breaker.Config{})
	for range 9 {
		_ = call(t.Context(), b, errBackend)
	}
	_ = call(t.Context(), b, nil) // the tenth: nine of ten failed
	wantState(t, b, breaker.Closed)
	_ = call(t.Context(), b, errBackend)
	wantState(t, b, breaker.Open)
}

func TestEachWindowOpensTheBreaker(t *testing.T) {
	for name, c := range map[string]breaker.Config{
		"of few calls":      {Window: 62},
		"of many calls":     {Window: 63},
		"with slow calls":   {Window: 31, SlowAfter: time.Hour, SlowRatio: 1},
		"of time":           {TimeWindow: 10 * time.Second},
		"and a long streak": {Window: 20, FailureRatio: breaker.NoFailureRatio, Consecutive: 40},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.MinCalls = 20
				b, l := newBreaker(t, c)
				for range 100 {
					_ = call(t.Context(), b, nil)
				}
				n := 0
				for ; b.State() == breaker.Closed && n < 101; n++ {
					_ = call(t.Context(), b, errBackend)
				}
				want := map[string]int{"of few calls": 31, "of many calls": 32, "with slow calls": 16, "of time": 100, "and a long streak": 40}[name]
				if n != want {
					t.Errorf("opened after %d failures, want %d", n, want)
				}
				wantChanges(t, l, "closed>open")
			})
		})
	}
}

func TestATimeWindowForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, breaker.Config{TimeWindow: 10 * time.Second})
		for range 9 {
			_ = call(t.Context(), b, errBackend)
		}
		time.Sleep(10 * time.Second)
		_ = call(t.Context(), b, errBackend)
		if got, want := b.Counts(), (breaker.Counts{Calls: 1, Failures: 1, Consecutive: 10}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
		wantState(t, b, breaker.Closed)
	})
}

func TestANilBreakerOnlyCalls(t *testing.T) {
	var b *breaker.Breaker
	if err := call(t.Context(), b, errBackend); !errors.Is(err, errBackend) {
		t.Error(err)
	}
	pass, err := b.Allow(t.Context())
	pass.Done(t.Context(), failure, 0)
	b.ForceOpen()
	b.Reset()
	if trips, _ := b.Trip(breaker.Counts{Calls: 100, Failures: 100}); err != nil || trips || b.State() != breaker.Closed || b.Busy() || b.Counts() != (breaker.Counts{}) || b.Clone(nil) != nil {
		t.Error("a nil breaker does something")
	}
}
