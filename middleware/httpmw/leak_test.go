package httpmw_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
)

// foreign is a context whose cancellation is not that of package context, and
// which has no AfterFunc: whoever derives from it starts a goroutine.
type foreign struct {
	context.Context
	done chan struct{}
}

func (f *foreign) Done() <-chan struct{} { return f.done }

// waiting is a base transport that derives a context and waits on it, as
// net/http does, and fails every first attempt.
func waiting(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	default:
	}
	resp := answer(req, http.StatusServiceUnavailable)
	if retry.Attempt(ctx) > 1 {
		resp.StatusCode = http.StatusOK
	}
	resp.Body = io.NopCloser(strings.NewReader("x"))
	return resp, nil
}

// heapInUse returns the bytes that are reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // empties the pools, too
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// goroutines returns how many there are, once they have had time to become as
// few as limit.
func goroutines(limit int) (n int) {
	for range 500 {
		if n = runtime.NumGoroutine(); n <= limit {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	return n
}

// Acceptance case C52.
func TestC52_NothingOfACallStaysWithALongLivedParent(t *testing.T) {
	calls := 100_000
	if testkit.Race || testing.Short() {
		calls = 1_000
	}
	ordinary, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := runtime.NumGoroutine()
	for name, parent := range map[string]context.Context{
		"a context of the standard library": ordinary,
		"a context of another type":         &foreign{context.Background(), make(chan struct{})},
	} {
		for _, hedges := range []bool{false, true} {
			target := middleware.Standard("test")
			calls := calls
			if hedges {
				target.Hedge = &hedge.Config{Delay: time.Second}
				calls = min(calls, 20_000)
			}
			target.Retry = &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}
			target.Breaker = &breaker.Config{FailureRatio: 1}
			tr := transport(t, roundTripper(waiting), target)
			call := func() {
				resp, err := tr.RoundTrip(request(t, parent, http.MethodGet, "http://x.test/", nil))
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatal(resp, err)
				}
				_ = resp.Body.Close()
			}
			for range 500 {
				call()
			}
			heap := heapInUse()
			for range calls {
				call()
			}
			if grown := heapInUse() - heap; grown > 1<<20 {
				t.Errorf("%s, hedges %v: the heap grew by %d bytes in %d calls", name, hedges, grown, calls)
			}
			if n := goroutines(before); n > before {
				t.Errorf("%s, hedges %v: %d goroutines became %d", name, hedges, before, n)
			}
		}
	}
}

// Acceptance case C55.
func TestC55_OneTransportServesAThousandGoroutines(t *testing.T) {
	var seen atomic.Int64
	target := middleware.Reads("test")
	target.Retry = &retry.Config{Base: time.Microsecond, Cap: time.Microsecond, Budget: retry.NoBudget}
	target.Bulkhead = &bulkhead.Config{Limit: 2000}
	target.Breaker = &breaker.Config{FailureRatio: 1}
	observer := backstay.ObserverFunc(func(context.Context, backstay.Event) { seen.Add(1) })
	var n atomic.Int64
	tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_ = req.Body.Close()
		}
		if i := n.Add(1); i%3 == 0 {
			return answer(req, http.StatusServiceUnavailable), nil
		} else if i%7 == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		return answer(req, http.StatusOK), nil
	}), target, httpmw.WithObserver(observer))
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			for range 5 {
				ctx, report := backstay.WithReport(t.Context())
				req := request(t, ctx, http.MethodPut, "http://host"+strconv.Itoa(i%7)+".test/", strings.NewReader("body"))
				resp, err := tr.RoundTrip(req)
				if err == nil {
					_ = resp.Body.Close()
				}
				if s := report.Summary(); s.Attempts < 1 || s.Attempts > 3 || len(s.Waits) != s.Attempts-1 {
					t.Errorf("report %v", report)
				}
			}
		})
	}
	wg.Wait()
	if got := tr.Pipelines().Len(); got != 7 {
		t.Errorf("%d pipelines", got)
	}
	for key, p := range tr.Pipelines().All {
		if got := p.Bulkhead().InFlight(); got != 0 {
			t.Errorf("%s: %d permits in flight", key, got)
		}
	}
	if seen.Load() < 5000 {
		t.Errorf("%d events", seen.Load())
	}
}

func TestEndedCallsLeaveNothingBehindWhateverTheirEnd(t *testing.T) {
	target := middleware.Reads("test")
	target.Retry = &retry.Config{Base: retry.NoWait}
	tr := transport(t, httpmwtest.Loop(httpmwtest.Status(503), httpmwtest.Reset(), httpmwtest.Status(404).Body("no")), target)
	before := runtime.NumGoroutine()
	for range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		if resp, err := tr.RoundTrip(request(t, ctx, http.MethodGet, "http://x.test/", nil)); err == nil {
			_ = resp.Body.Close()
		}
		cancel()
	}
	if n := goroutines(before); n > before {
		t.Errorf("%d goroutines became %d", before, n)
	}
}
