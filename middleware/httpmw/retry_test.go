package httpmw_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
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
)

// Acceptance case C20.
func TestC20_ARefusalOfOursIsFinalAndNotWaitedFor(t *testing.T) {
	t.Run("open breaker", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen httpmwtest.Recorder
			target := middleware.Standard("payments")
			target.Breaker = &breaker.Config{Consecutive: 1, OpenFor: 10 * time.Second}
			backend := httpmwtest.Script(httpmwtest.Status(500))
			tr := transport(t, backend, target, httpmw.WithObserver(&seen))
			_, _ = get(t, retry.Never(t.Context()), tr)
			time.Sleep(3 * time.Second)
			began := time.Now()
			_, err := get(t, t.Context(), tr)
			var open *breaker.OpenError
			if !errors.As(err, &open) || open.Name != "payments[x.test]" || open.RetryAfter != 7*time.Second || !errors.Is(err, backstay.ErrRejected) {
				t.Errorf("error %v", err)
			}
			if time.Since(began) != 0 {
				t.Errorf("waited %v", time.Since(began))
			}
			seen.Want(t, backstay.CallRejected, 1)
			backend.Want(t, 1)
		})
	})
	t.Run("full bulkhead", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen httpmwtest.Recorder
			target := middleware.Standard("payments")
			target.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: true}
			backend := httpmwtest.Script(httpmwtest.Status(200).Body("held"))
			tr := transport(t, backend, target, httpmw.WithObserver(&seen))
			if _, err := get(t, t.Context(), tr); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err := get(t, t.Context(), tr)
			var full *bulkhead.FullError
			if !errors.As(err, &full) || full.Name != "payments[x.test]" || full.InFlight != 1 || !errors.Is(err, backstay.ErrRejected) {
				t.Errorf("error %v", err)
			}
			if time.Since(began) != 0 {
				t.Errorf("waited %v", time.Since(began))
			}
			seen.Want(t, backstay.CallRejected, 1)
			backend.Want(t, 1)
		})
	})
}

// Acceptance case C49.
func TestC49_EachCallThatABreakerRejectsIsOneRejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen httpmwtest.Recorder
		tr := transport(t, httpmwtest.Script(), middleware.Standard("test"), httpmw.WithObserver(&seen))
		tr.Pipelines().Get("x.test", backstay.Now()).Breaker().ForceOpen()
		for range 5 {
			if _, err := get(t, t.Context(), tr); !errors.Is(err, breaker.ErrOpen) {
				t.Errorf("error %v", err)
			}
		}
		seen.Want(t, backstay.CallRejected, 5)
		seen.Want(t, backstay.CallDone, 5)
		seen.Want(t, backstay.RetryPlanned, 0)
		seen.Want(t, backstay.AttemptDone, 0)
	})
}

// Acceptance case C21.
func TestC21_InAnOutageTheExtraLoadIsBoundedWhateverTheNumberOfWorkers(t *testing.T) {
	const calls = 10_000
	for _, workers := range []int{1, 5, 50} {
		synctest.Test(t, func(t *testing.T) {
			var attempts atomic.Int64
			target := only("test")
			target.Retry = &retry.Config{Base: retry.NoWait}
			tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
				attempts.Add(1)
				return answer(req, http.StatusServiceUnavailable), nil
			}), target)
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range calls / workers {
						if resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, "http://x.test/", nil)); err != nil || resp.StatusCode != 503 {
							t.Errorf("%v, %v", resp, err)
						}
					}
				})
			}
			wg.Wait()
			least, most := int64(calls*1.09), int64(calls*1.1)+retry.DefaultBurst
			if got := attempts.Load(); got > most || got < least {
				t.Errorf("%d workers: %d attempts of %d calls, want at most %d", workers, got, calls, most)
			}
		})
	}
}

// Acceptance case C22.
func TestC22_ABudgetIsEarnedAgainAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := must(retry.NewBudget(retry.BudgetConfig{}))
		target := only("test")
		target.Retry = &retry.Config{}
		status := http.StatusServiceUnavailable
		attempts := 0
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			attempts++
			return answer(req, status), nil
		}), target, httpmw.WithRetryBudget(budget))
		made := func(ctx context.Context, calls, answered int) int {
			attempts, status = 0, answered
			for range calls {
				_, _ = get(t, ctx, tr)
			}
			return attempts
		}

		made(t.Context(), 20, 503)
		if got := budget.Available(); got >= 1 {
			t.Fatalf("%v tokens after an outage", got)
		}
		if got := made(t.Context(), 1, 503); got != 1 {
			t.Errorf("%d attempts of a call with an empty budget", got)
		}
		made(t.Context(), 30, 200)
		if got := made(t.Context(), 1, 503); got != 3 {
			t.Errorf("%d attempts after only successes", got)
		}

		before := budget.Available()
		made(t.Context(), 10, 400)
		if got := budget.Available() - before; got < 0.99 {
			t.Errorf("10 calls that are not to be retried earned %v", got)
		}

		made(t.Context(), 30, 200)
		before = budget.Available()
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Nanosecond, cancel) // in the wait before the second attempt
			if got := made(ctx, 1, 503); got != 1 {
				t.Errorf("%d attempts of a cancelled call", got)
			}
		}
		if got := budget.Available() - before; got < 0.99 {
			t.Errorf("10 calls that were cancelled before their second attempt earned %v", got)
		}

		made(t.Context(), 20, 503)
		if err := budget.Reload(retry.BudgetConfig{Ratio: 1}); err != nil {
			t.Fatal(err)
		}
		if got := made(t.Context(), 10, 503); got < 19 {
			t.Errorf("%d attempts of 10 calls after the reload", got)
		}
	})
}

// Acceptance case C23.
func TestC23_NothingIsWaitedForAfterTheLastAttempt(t *testing.T) {
	for name, step := range map[string]httpmwtest.Step{"503": httpmwtest.Status(503), "reset": httpmwtest.Reset()} {
		synctest.Test(t, func(t *testing.T) {
			backend := httpmwtest.Script(step)
			target := polite()
			target.Retry.MaxAttempts = 5
			ctx, report := backstay.WithReport(t.Context())
			began := time.Now()
			_, _ = get(t, ctx, transport(t, backend, target))
			seen := backend.Requests()
			if len(seen) != 5 || time.Since(seen[4].At) != 0 {
				t.Errorf("%s: %d attempts, the last one %v ago", name, len(seen), time.Since(seen[len(seen)-1].At))
			}
			var waited time.Duration
			for _, w := range report.Summary().Waits {
				waited += w
			}
			if len(report.Summary().Waits) != 4 || time.Since(began) != waited {
				t.Errorf("%s: took %v, of which the report knows %v", name, time.Since(began), waited)
			}
		})
	}
}

// Acceptance case C24.
func TestC24_ACancelBetweenAttemptsTellsWhyAndWhatFailed(t *testing.T) {
	why := errors.New("user pressed stop")
	t.Run("between attempts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			backend := httpmwtest.Script(httpmwtest.Reset())
			target := polite()
			target.Retry.Base, target.Retry.Cap = 1e6*time.Second, 1e6*time.Second
			time.AfterFunc(time.Millisecond, func() { cancel(why) })
			began := time.Now()
			_, err := get(t, ctx, transport(t, backend, target))
			if !errors.Is(err, context.Canceled) || !errors.Is(err, why) || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("error %v", err)
			}
			if time.Since(began) != time.Millisecond {
				t.Errorf("returned after %v", time.Since(began))
			}
			backend.Want(t, 1)
		})
	})
	t.Run("between attempts, after an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			backend := httpmwtest.Script(httpmwtest.Status(503).RetryAfter(time.Second))
			time.AfterFunc(time.Millisecond, func() { cancel(why) })
			_, err := get(t, ctx, transport(t, backend, polite()))
			if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
				t.Errorf("error %v", err)
			}
			backend.Want(t, 1)
		})
	})
	t.Run("during the second attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			backend := httpmwtest.Script(httpmwtest.Reset(), httpmwtest.BlackHole())
			time.AfterFunc(time.Second, func() { cancel(why) })
			_, err := get(t, ctx, transport(t, backend, polite()))
			if !errors.Is(err, context.Canceled) || !errors.Is(err, why) || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("error %v", err)
			}
			backend.Want(t, 2)
		})
	})
	t.Run("before the first attempt", func(t *testing.T) {
		for _, target := range []middleware.Target{polite(), middleware.Standard("test"), middleware.Reads("test")} {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(why)
			backend := httpmwtest.Script()
			_, err := get(t, ctx, transport(t, backend, target))
			if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
				t.Errorf("error %v", err)
			}
			backend.Want(t, 0)
		}
	})
}

// Acceptance case C28b.
func TestC28b_WithAnEmptyBudgetTheBackendsOwnAnswerReturnsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := polite()
		target.Retry.Budget = retry.BudgetConfig{Burst: retry.NoBurst}
		backend := httpmwtest.Script(httpmwtest.Status(503).Body("down for maintenance"))
		ctx, report := backstay.WithReport(t.Context())
		var seen httpmwtest.Recorder
		resp, err := get(t, ctx, transport(t, backend, target, httpmw.WithObserver(&seen)))
		if err != nil {
			t.Fatal(err)
		}
		if text := readAll(t, resp); resp.StatusCode != 503 || text != "down for maintenance" || len(resp.Header) != 0 {
			t.Errorf("status %d, header %v, %q", resp.StatusCode, resp.Header, text)
		}
		backend.Want(t, 1)
		if s := report.Summary(); s.Reason != backstay.ReasonBudgetEmpty || s.Attempts != 1 {
			t.Errorf("report %v", report)
		}
		told := seen.Events(backstay.RetrySuppressed)
		if len(told) != 1 || told[0].Reason != backstay.ReasonBudgetEmpty {
			t.Errorf("told %+v", told)
		}
	})
}
