package httpmw_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// breakerOf returns the breaker of x.test.
func breakerOf(tr *httpmw.Transport) *breaker.Breaker {
	return tr.Pipelines().Get("x.test", backstay.Now()).Breaker()
}

// guarded returns a target with a breaker alone.
func guarded(c breaker.Config) middleware.Target {
	t := only("test")
	t.Breaker = &c
	return t
}

// Acceptance case C28.
func TestC28_AProbeThatUnwindsFreesItsPlace(t *testing.T) {
	for name, unwind := range map[string]func(){
		"a panic":               func() { panic("boom") },
		"http.ErrAbortHandler":  func() { panic(http.ErrAbortHandler) },
		"runtime.Goexit":        runtime.Goexit,
		"a panic with nil":      func() { panic(nil) },
		"a panic with an error": func() { panic(errors.New("boom")) },
	} {
		synctest.Test(t, func(t *testing.T) {
			target := middleware.Standard("test")
			target.Retry = nil
			target.Breaker = &breaker.Config{Consecutive: 3, OpenFor: 5 * time.Second}
			backend := httpmwtest.Script(
				httpmwtest.Status(500), httpmwtest.Status(500), httpmwtest.Status(500),
				httpmwtest.Serve(func(*http.Request) (*http.Response, error) {
					unwind()
					return nil, nil
				}),
				httpmwtest.Status(200))
			tr := transport(t, backend, target)
			for range 3 {
				_, _ = get(t, context.Background(), tr)
			}
			time.Sleep(5 * time.Second)
			if got := breakerOf(tr).State(); got != breaker.HalfOpen {
				t.Fatalf("%s: %v before the probe", name, got)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { _ = recover() }()
				_, _ = get(t, context.Background(), tr)
				t.Errorf("%s: the call returned", name)
			})
			wg.Wait()
			if got := breakerOf(tr).State(); got != breaker.Open {
				t.Errorf("%s: %v after the probe", name, got)
			}
			if _, err := get(t, context.Background(), tr); !errors.Is(err, breaker.ErrOpen) {
				t.Errorf("%s: %v", name, err)
			}
			time.Sleep(10 * time.Second) // the second opening is twice as long
			if resp, err := get(t, context.Background(), tr); err != nil || resp.StatusCode != 200 {
				t.Errorf("%s: the next probe: %v", name, err)
			}
			if got := breakerOf(tr).State(); got != breaker.Closed {
				t.Errorf("%s: %v in the end", name, got)
			}
		})
	}
}

// Acceptance case C31.
func TestC31_OnlyDeadlinesThatCutLateSpeakAgainstTheBackend(t *testing.T) {
	slowAfter := timeout.DefaultAfter / 2
	for _, c := range []struct {
		name  string
		ctx   func(context.Context) (context.Context, context.CancelFunc)
		state breaker.State
	}{
		{"30 cancellations", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(slowAfter+time.Millisecond, cancel)
			return ctx, cancel
		}, breaker.Closed},
		{"30 deadlines before SlowAfter", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, slowAfter-time.Millisecond)
		}, breaker.Closed},
		{"30 deadlines after SlowAfter", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, slowAfter+time.Millisecond)
		}, breaker.Open},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr := transport(t, httpmwtest.Script(httpmwtest.BlackHole()), middleware.Standard("test"))
			for range 30 {
				ctx, cancel := c.ctx(context.Background())
				if _, err := get(t, ctx, tr); err == nil {
					t.Error("an answer")
				}
				cancel()
			}
			if got := breakerOf(tr).State(); got != c.state {
				t.Errorf("%s: %v, want %v", c.name, got, c.state)
			}
		})
	}
}

// Acceptance case C32.
func TestC32_RefusedConnectionsOpenTheBreaker(t *testing.T) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	closed := l.Addr().String()
	_ = l.Close()
	base := speaking(false)
	defer base.CloseIdleConnections()
	tr := transport(t, base, guarded(breaker.Config{}))
	refusals, rejections := 0, 0
	for range 20 {
		_, err := tr.RoundTrip(request(t, context.Background(), http.MethodPost, "http://"+closed, nil))
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			refusals++
			if o := httpmw.Classify(nil, err); o.Class != backstay.Transient || !o.Unsent {
				t.Errorf("a refused connection is judged %+v", o)
			}
		case errors.Is(err, breaker.ErrOpen):
			rejections++
		default:
			t.Errorf("error %v", err)
		}
	}
	if refusals != breaker.DefaultMinCalls || rejections != 20-breaker.DefaultMinCalls {
		t.Errorf("%d refused, %d rejected", refusals, rejections)
	}
}

// Acceptance case C35a.
func TestC35a_TheCallersMistakesAndOtherHostsDoNotOpenABreaker(t *testing.T) {
	t.Run("1,000 times 400 and 404", func(t *testing.T) {
		tr := transport(t, httpmwtest.Loop(httpmwtest.Status(400), httpmwtest.Status(404)), middleware.Standard("test"))
		for range 1000 {
			if _, err := get(t, context.Background(), tr); err != nil {
				t.Fatal(err)
			}
		}
		if c := breakerOf(tr).Counts(); breakerOf(tr).State() != breaker.Closed || c.Failures != 0 {
			t.Errorf("%v with %+v", breakerOf(tr).State(), c)
		}
	})
	t.Run("one host down, another one healthy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := new(network)
			n.serve(t, "a.test", false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
			b := n.serve(t, "b.test", false, func(http.ResponseWriter, *http.Request) {})
			target := middleware.Standard("test")
			target.Retry = &retry.Config{Base: retry.NoWait}
			c := &http.Client{Transport: transport(t, n.base(false), target)}
			for range 50 {
				if resp, err := c.Get("http://a.test"); err == nil {
					readAll(t, resp)
				}
				resp, err := c.Get("http://b.test")
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatal(err)
				}
				readAll(t, resp)
			}
			if _, err := c.Get("http://a.test"); !errors.Is(err, breaker.ErrOpen) {
				t.Errorf("a is not given up: %v", err)
			}
			if got := b.requests.Load(); got != 50 {
				t.Errorf("b got %d requests", got)
			}
		})
	})
}

// Acceptance case C36a.
func TestC36a_RightAnswersThatComeTooSlowlyOpenTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen httpmwtest.Recorder
		tr := transport(t, httpmwtest.Script(httpmwtest.Hang(5*time.Second)),
			guarded(breaker.Config{SlowAfter: time.Second, SlowRatio: 0.5}), httpmw.WithObserver(&seen))
		answers := 0
		for range 30 {
			if _, err := get(t, context.Background(), tr); err == nil {
				answers++
			}
		}
		changes := seen.Events(backstay.BreakerChanged)
		if answers != breaker.DefaultMinCalls || len(changes) != 1 || changes[0].Reason != breaker.ReasonSlowRatio {
			t.Errorf("%d answers, %+v", answers, changes)
		}
	})
}

// Acceptance case C59.
func TestC59_TheTimeInOurOwnQueueIsNotTheBackends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := guarded(breaker.Config{SlowAfter: time.Second, SlowRatio: 0.1, MinCalls: 1})
		target.Bulkhead = &bulkhead.Config{Limit: 1, MaxQueue: 100}
		target.Timeout = &timeout.Config{After: time.Second}
		tr := transport(t, httpmwtest.Script(httpmwtest.Hang(900*time.Millisecond)), target)
		began := time.Now()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := get(t, context.Background(), tr); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took != 18*time.Second { // the last one queued for 17.1 s
			t.Errorf("took %v", took)
		}
		if c := breakerOf(tr).Counts(); breakerOf(tr).State() != breaker.Closed || c.Slow != 0 || c.Calls != 20 {
			t.Errorf("%v with %+v", breakerOf(tr).State(), c)
		}
	})
}
