package httpmw_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
)

// polite returns a target with retries alone, with their default waits.
func polite() middleware.Target {
	t := only("test")
	t.Retry = &retry.Config{Budget: retry.NoBudget}
	return t
}

// firstBackoff bounds our own wait before the second attempt.
const firstBackoff = retry.DefaultBase

// Acceptance case C17.
func TestC17_RetryAfterIsNeverCutShortNorAHotLoop(t *testing.T) {
	date := func(layout string) func(time.Time) []string {
		return func(now time.Time) []string { return []string{now.UTC().Add(5 * time.Second).Format(layout)} }
	}
	fixed := func(values ...string) func(time.Time) []string { return func(time.Time) []string { return values } }
	const (
		never    = -1 - iota // longer than any wait we accept
		tillDate             // five seconds, less what the date cuts off
	)
	for _, c := range []struct {
		name   string
		values func(now time.Time) []string
		wait   time.Duration // the server's
		runs   int
	}{
		{"0", fixed("0"), 0, 50},
		{"1", fixed("1"), time.Second, 1000},
		{"-1", fixed("-1"), 0, 50},
		{"empty", fixed(""), 0, 50},
		{"absent", fixed(), 0, 50},
		{"junk", fixed("120junk"), 0, 50},
		{"an exponent", fixed("1e3"), 0, 50},
		{"spaces", fixed(" 2 "), 2 * time.Second, 50},
		{"two fields, the larger last", fixed("1", "3"), 3 * time.Second, 50},
		{"two fields, the larger first", fixed("3", "1"), 3 * time.Second, 50},
		{"two fields, one unusable", fixed("soon", "2"), 2 * time.Second, 50},
		{"1.5", fixed("1.5"), 1500 * time.Millisecond, 50},
		{"99999999999", fixed("99999999999"), never, 5},
		{"the largest int64", fixed("9223372036854775807"), never, 5},
		{"nanoseconds that overflow to little", fixed("18446744073"), never, 5},
		{"nanoseconds that overflow to little, beside a short wait", fixed("18446744074", "1"), never, 5},
		{"20 digits", fixed("99999999999999999999"), never, 5},
		{"longer than MaxServerWait", fixed("31"), never, 5},
		{"a date that has passed", fixed("Sun, 06 Nov 1994 08:49:37 GMT"), 0, 50},
		{"a date far ahead", fixed("Fri, 31 Dec 9999 23:59:59 GMT"), never, 5},
		{"a date of RFC 9110", date(http.TimeFormat), tillDate, 50},
		{"a date of RFC 850", date("Monday, 02-Jan-06 15:04:05 GMT"), tillDate, 50},
		{"a date of asctime", date(time.ANSIC), tillDate, 50},
	} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			t.Run(c.name+" with "+strconv.Itoa(status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var first, second time.Time
					tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
						if first.IsZero() {
							first = time.Now()
							resp := answer(req, status)
							if v := c.values(first); v != nil {
								resp.Header["Retry-After"] = v
							}
							return resp, nil
						}
						second = time.Now()
						return answer(req, http.StatusOK), nil
					}), polite())
					for range c.runs {
						time.Sleep(123456789) // dates have whole seconds, now has not
						first, second = time.Time{}, time.Time{}
						resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, "http://x.test/", nil))
						if err != nil {
							t.Fatal(err)
						}
						if c.wait == never {
							if resp.StatusCode != status || !second.IsZero() || !time.Now().Equal(first) {
								t.Fatalf("status %d, second attempt at %v", resp.StatusCode, second)
							}
							continue
						}
						least := c.wait
						if least == tillDate {
							least = first.Truncate(time.Second).Add(5 * time.Second).Sub(first)
						}
						if got := second.Sub(first); resp.StatusCode != http.StatusOK || got < least || got > least+firstBackoff {
							t.Fatalf("status %d; waited %v, the server asked for %v", resp.StatusCode, got, least)
						}
					}
				})
			})
		}
	}
}

// Acceptance case C17.
func TestC17_AWaitNeverPassesTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, header := range []string{"5", "1.5", "Sat, 01 Jan 2000 00:00:06 GMT"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			backend := httpmwtest.Script(httpmwtest.Status(503).Header("Retry-After", header))
			resp, err := get(t, ctx, transport(t, backend, polite()))
			if err != nil || resp.StatusCode != 503 || time.Since(began) != 0 {
				t.Errorf("%s: %v, %v after %v", header, resp, err, time.Since(began))
			}
			backend.Want(t, 1)
			cancel()
		}
	})
}

func TestCousinsOfRetryAfterCountWhereTheTargetNamesThem(t *testing.T) {
	for _, named := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			target := polite()
			if named {
				target.HTTP.WaitHeaders = []string{"retry-after-ms"}
			}
			backend := httpmwtest.Script(httpmwtest.Status(503).Header("Retry-After-Ms", "2500"), httpmwtest.Status(200))
			if _, err := get(t, t.Context(), transport(t, backend, target)); err != nil {
				t.Fatal(err)
			}
			if w := backend.Waits()[0]; (w >= 2500*time.Millisecond) != named {
				t.Errorf("named %v: waited %v", named, w)
			}
		})
	}
}

// Acceptance case C18.
func TestC18_AWaitThatDoesNotFitIsNotBegun(t *testing.T) {
	t.Run("a server's wait beyond the total", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			target := middleware.Standard("payments")
			target.Deadline = &deadline.Config{Total: 30 * time.Second}
			target.Retry = &retry.Config{MaxServerWait: time.Hour}
			var seen httpmwtest.Recorder
			backend := httpmwtest.Script(httpmwtest.Status(429).RetryAfter(100 * time.Second).Body("slow down"))
			ctx, report := backstay.WithReport(t.Context())
			began := time.Now()
			resp, err := get(t, ctx, transport(t, backend, target, httpmw.WithObserver(&seen)))
			if err != nil {
				t.Fatal(err)
			}
			if text := readAll(t, resp); resp.StatusCode != 429 || text != "slow down" || time.Since(began) != 0 {
				t.Errorf("status %d, %q, after %v", resp.StatusCode, text, time.Since(began))
			}
			backend.Want(t, 1)
			told := seen.Events(backstay.RetrySuppressed)
			if len(told) != 1 || told[0].Reason != backstay.ReasonNoTime || told[0].Wait < 100*time.Second {
				t.Errorf("told %+v", told)
			}
			if s := report.Summary(); s.Reason != backstay.ReasonNoTime || s.Attempts != 1 || len(s.Waits) != 0 {
				t.Errorf("report %v", report)
			}
		})
	})
	t.Run("our own backoff beyond what is left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			target := middleware.Standard("payments")
			target.Retry = &retry.Config{Base: 1e6 * time.Second, Cap: 1e6 * time.Second} // full jitter is hardly ever below 200 ms then
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := get(t, ctx, transport(t, httpmwtest.Script(httpmwtest.Reset()), target))
			var gaveUp *retry.ExhaustedError
			if !errors.As(err, &gaveUp) || gaveUp.Reason != backstay.ReasonNoTime || gaveUp.Wait < 200*time.Millisecond ||
				!errors.Is(err, syscall.ECONNRESET) || time.Since(began) != 0 {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	})
}

// Acceptance case C54.
func TestC54_WithLittleTimeLeftTheLastRealEndReturnsAtOnce(t *testing.T) {
	for name, step := range map[string]httpmwtest.Step{
		"an answer": httpmwtest.Status(503).RetryAfter(10 * time.Second),
		"an error":  httpmwtest.Reset(),
	} {
		synctest.Test(t, func(t *testing.T) {
			target := polite()
			target.Retry.Base, target.Retry.Cap = 1e6*time.Second, 1e6*time.Second
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			resp, err := get(t, ctx, transport(t, httpmwtest.Script(step), target))
			if time.Since(began) != 0 {
				t.Errorf("%s: took %v", name, time.Since(began))
			}
			if err == nil && resp.StatusCode != 503 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s: %v, %v", name, resp, err)
			}
		})
	}
}

// Acceptance case C58.
func TestC58_AServersWaitMayExceedTheBackoffCapAndScattersItsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		back := map[time.Duration]int{}
		began := time.Now()
		target := middleware.Standard("test")
		target.Deadline = &deadline.Config{Total: 30 * time.Second}
		target.Retry = &retry.Config{Budget: retry.NoBudget}
		target.Bulkhead = nil
		target.Breaker = nil
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			if retry.Attempt(req.Context()) == 1 {
				resp := answer(req, http.StatusServiceUnavailable)
				resp.Header.Set("Retry-After", "5")
				return resp, nil
			}
			mu.Lock()
			defer mu.Unlock()
			back[time.Since(began)]++
			return answer(req, http.StatusOK), nil
		}), target)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, "http://x.test/", nil))
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("%v, %v", resp, err)
				}
			})
		}
		wg.Wait()
		for at, n := range back {
			if at < 5*time.Second || at > 5*time.Second+firstBackoff || n > 3 {
				t.Errorf("%d clients came back after %v", n, at)
			}
		}
		if len(back) < 90 {
			t.Errorf("100 clients came back in %d instants", len(back))
		}
	})
}
