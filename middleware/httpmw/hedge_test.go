package httpmw_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
)

// hedged returns a target with hedging alone.
func hedged(c hedge.Config) middleware.Target {
	t := only("test")
	t.Hedge = &c
	return t
}

// Acceptance case C35, C36.
func TestC35_C36_AFailedCopyNeverBeatsAHealthyOne(t *testing.T) {
	for name, end := range map[string]httpmwtest.Step{
		"the copy fails at once":      httpmwtest.Reset(),
		"the copy is refused":         httpmwtest.Refuse(),
		"the copy answers 503 first":  httpmwtest.Status(503).Body("sorry").After(time.Millisecond),
		"the copy answers 429 first":  httpmwtest.Status(429).Body("slow down"),
		"the copy never answers":      httpmwtest.BlackHole(),
		"the copy answers too late":   httpmwtest.Status(200).Body("copy").After(200 * time.Millisecond),
		"the copy and the first draw": httpmwtest.Status(503).After(90 * time.Millisecond),
	} {
		synctest.Test(t, func(t *testing.T) {
			backend := httpmwtest.Script(httpmwtest.Status(200).Body("first").After(100*time.Millisecond), end)
			began := time.Now()
			resp, err := get(t, t.Context(), transport(t, backend, hedged(hedge.Config{Delay: 10 * time.Millisecond})))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if text := readAll(t, resp); resp.StatusCode != 200 || text != "first" || time.Since(began) != 100*time.Millisecond {
				t.Errorf("%s: status %d, %q after %v", name, resp.StatusCode, text, time.Since(began))
			}
			backend.Want(t, 2)
		})
	}
}

// Acceptance case C36.
func TestC36_ThePrimaryFailsAndTheCopyMakesItGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := httpmwtest.Script(httpmwtest.Status(503).Body("sorry").After(20*time.Millisecond), httpmwtest.Status(200).Body("copy").After(time.Second))
		ctx, report := backstay.WithReport(t.Context())
		resp, err := get(t, ctx, transport(t, backend, hedged(hedge.Config{Delay: 10 * time.Millisecond})))
		if err != nil {
			t.Fatal(err)
		}
		if text := readAll(t, resp); text != "copy" {
			t.Errorf("%q", text)
		}
		if s := report.Summary(); s.Winner != 2 || s.Copies != 1 || s.Attempts != 1 {
			t.Errorf("report %v", report)
		}
	})
}

// Acceptance case C38.
func TestC38_ExtraCopiesStayWithinTheBudgetHoweverManyCallers(t *testing.T) {
	const calls = 1000
	for _, workers := range []int{1, 50} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
				sent.Add(1)
				if err := wait(req.Context(), 100*time.Millisecond); err != nil {
					return nil, err
				}
				return answer(req, http.StatusOK), nil
			}), hedged(hedge.Config{Delay: 20 * time.Millisecond}))
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range calls / workers {
						if _, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, "http://x.test/", nil)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			copies := sent.Load() - calls
			if most := int64(calls*hedge.DefaultRatio + hedge.DefaultBurst); copies > most || copies < most/2 {
				t.Errorf("%d workers: %d copies, want at most %d", workers, copies, most)
			}
		})
	}
}

// Acceptance case C39.
func TestC39_CopiesInFlightFinishWhenTheBudgetRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, quick := httpmwtest.BlackHole(), httpmwtest.Status(200).Body("copy").After(time.Second)
		backend := httpmwtest.Script(slow, quick, httpmwtest.Status(200).Body("alone").After(time.Second))
		tr := transport(t, backend, hedged(hedge.Config{
			Delay: 10 * time.Millisecond, Budget: hedge.BudgetConfig{Burst: 1, Ratio: 0.001},
		}))
		var wg sync.WaitGroup
		wg.Go(func() {
			resp, err := get(t, t.Context(), tr)
			if err != nil || readAll(t, resp) != "copy" {
				t.Errorf("%v, %v", resp, err)
			}
		})
		time.Sleep(20 * time.Millisecond) // the copy is under way, and has spent the budget
		resp, err := get(t, t.Context(), tr)
		if err != nil || readAll(t, resp) != "alone" {
			t.Errorf("%v, %v", resp, err)
		}
		wg.Wait()
		backend.Want(t, 3)
	})
}

// Acceptance case C43a.
func TestC43a_LosersOfARaceCountNeitherAsFailuresNorAsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 40
		var seen httpmwtest.Recorder
		quick, slow := httpmwtest.Status(200).After(time.Millisecond), httpmwtest.BlackHole()
		backend := httpmwtest.Loop(quick, slow, quick) // every other call is hedged
		target := guarded(breaker.Config{Window: 1000})
		target.Hedge = &hedge.Config{Delay: 10 * time.Millisecond, Budget: hedge.BudgetConfig{Ratio: 1}}
		tr := transport(t, backend, target, httpmw.WithObserver(&seen))
		for range calls {
			if _, err := get(t, t.Context(), tr); err != nil {
				t.Fatal(err)
			}
		}
		if c := breakerOf(tr).Counts(); c.Calls != calls || c.Failures != 0 {
			t.Errorf("the breaker counted %+v", c)
		}
		ends := map[backstay.Reason]int{}
		for _, e := range seen.Events(backstay.HedgeDone) {
			ends[e.Reason]++
		}
		if ends[backstay.ReasonHedgeCancelled] != calls/2 || ends[backstay.ReasonHedgeWon] != calls/2 || ends[backstay.ReasonHedgeLost] != 0 {
			t.Errorf("told %v", ends)
		}
		for _, e := range seen.Events(backstay.AttemptDone) {
			if e.Outcome.Class.Failure() {
				t.Errorf("copy %d is told as %v", e.Copy, e.Outcome.Class)
			}
		}
		backend.Want(t, calls*3/2)
	})
}

func TestLosersFreeTheirConnections(t *testing.T) {
	var n atomic.Int64
	inMemory(t, func(w http.ResponseWriter, req *http.Request) {
		if n.Add(1)%2 == 1 {
			_ = wait(req.Context(), time.Second)
		}
		_, _ = w.Write(make([]byte, 64<<10))
	}, func(t *testing.T, b *backend) {
		n.Store(0)
		target := hedged(hedge.Config{Delay: 10 * time.Millisecond, Budget: hedge.BudgetConfig{Ratio: 1}})
		tr := transport(t, b.base(t), target)
		for range 5 {
			resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, b.URL, nil))
			if err != nil {
				t.Fatal(err)
			}
			readAll(t, resp)
		}
		synctest.Wait()
		if got := b.requests.Load(); got != 10 {
			t.Errorf("%d copies", got)
		}
	})
}

func TestCopiesSpendFromTheRetryBudgetToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := hedged(hedge.Config{Delay: 10 * time.Millisecond})
		target.Retry = &retry.Config{Budget: retry.BudgetConfig{Burst: retry.NoBurst, Ratio: 0.001}}
		backend := httpmwtest.Script(httpmwtest.Hang(time.Second))
		tr := transport(t, backend, target)
		for range 10 {
			if _, err := get(t, t.Context(), tr); err != nil {
				t.Fatal(err)
			}
		}
		backend.Want(t, 10)
	})
}
