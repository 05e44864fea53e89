package httpmw_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
)

// heading is a request whose caller waits as the header says.
func heading(t *testing.T, b *backend, name string, values ...string) *http.Request {
	t.Helper()
	req := request(t, context.Background(), http.MethodGet, b.URL, nil)
	req.Header[http.CanonicalHeaderKey(name)] = values
	return req
}

// Acceptance case C47.
func TestC47_AHandlerSeesWhatIsLeftAndNeverMoreThanTheCap(t *testing.T) {
	const most = time.Minute
	for _, c := range []struct {
		name    string
		header  string
		values  []string
		want    time.Duration
		ignored int
	}{
		{"none: the cap", "X-Else", []string{"1"}, most, 0},
		{"ours", "X-Backstay-Timeout-Ms", []string{"1900"}, 1900 * time.Millisecond, 0},
		{"gRPC's, 119 s capped", "Grpc-Timeout", []string{"119000m"}, most, 0},
		{"gRPC's, 1.9 s", "Grpc-Timeout", []string{"1900000u"}, 1900 * time.Millisecond, 0},
		{"gRPC's, 90 min capped", "Grpc-Timeout", []string{"5400000m"}, most, 0},
		{"negative", "X-Backstay-Timeout-Ms", []string{"-5"}, most, 1},
		{"empty", "X-Backstay-Timeout-Ms", []string{""}, most, 1},
		{"10^12", "X-Backstay-Timeout-Ms", []string{"1000000000000"}, most, 1},
		{"1e3", "X-Backstay-Timeout-Ms", []string{"1e3"}, most, 1},
		{"a thousand of them", "X-Backstay-Timeout-Ms", make([]string, 1000), most, 1},
		{"the least of two", "X-Backstay-Timeout-Ms", []string{"5000", "3000"}, 3 * time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen testkit.Recorder
			var left time.Duration
			h := handler(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
				left, _ = deadline.Remaining(req.Context())
			}), middleware.Server{Deadline: &deadline.IncomingConfig{
				Headers: []string{"x-backstay-timeout-ms", "grpc-timeout"},
			}}, httpmw.ServerObserver(&seen))
			inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
				seen.Take()
				if got := ask(t, b.base(t), heading(t, b, c.header, c.values...)); got.status != http.StatusOK {
					t.Errorf("status %d", got.status)
				}
				if left > c.want || left < c.want-c.want/100 {
					t.Errorf("the handler has %v, want %v", left, c.want)
				}
				if got := seen.Events(backstay.HeaderIgnored); len(got) != c.ignored {
					t.Errorf("ignored: %v", got)
				}
			})
		})
	}
}

func TestARequestThatComesTooLateIsRefusedBeforeItsHandler(t *testing.T) {
	for _, c := range []struct{ name, left string }{{"expired", "0"}, {"below the minimum", "99"}} {
		t.Run(c.name, func(t *testing.T) {
			var calls atomic.Int64
			var seen testkit.Recorder
			h := handler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }),
				middleware.Server{Name: "stock", Deadline: &deadline.IncomingConfig{Minimum: 100 * time.Millisecond}}, httpmw.ServerObserver(&seen))
			overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
				seen.Take()
				got := ask(t, b.base(t), heading(t, b, "X-Backstay-Timeout-Ms", c.left))
				if reason := got.problem(t, http.StatusGatewayTimeout); reason != "too_late" {
					t.Errorf("reason %q", reason)
				}
				if got.header.Get("X-Backstay-Retry") != "never" || calls.Load() != 0 {
					t.Errorf("%v, %d calls", got.header, calls.Load())
				}
				told := seen.Events(backstay.CallRejected)
				if len(told) != 1 || told[0].Reason != backstay.ReasonTooLate || told[0].Policy != "stock" {
					t.Errorf("told %v", told)
				}
			})
		})
	}
}

// Acceptance case C47.
func TestC47_TimeInTheQueueIsSubtracted(t *testing.T) {
	var left time.Duration
	var calls atomic.Int64
	h := handler(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		calls.Add(1)
		left, _ = deadline.Remaining(req.Context())
	}), middleware.Server{
		Deadline: &deadline.IncomingConfig{Minimum: time.Second},
		Bulkhead: &bulkhead.Config{Limit: 1, MaxQueue: 9},
	})
	inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		for _, c := range []struct {
			name   string
			header string
			queued time.Duration
			left   time.Duration // 0: refused
		}{
			{"from the caller's", "5000", 3 * time.Second, 2 * time.Second},
			{"from the cap", "90000", 20 * time.Second, 40 * time.Second},
			{"below the minimum", "5000", 4500 * time.Millisecond, 0},
			{"used up", "5000", 6 * time.Second, 0},
		} {
			calls.Store(0)
			permit, err := h.Bulkhead().Acquire(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			free := time.AfterFunc(c.queued, func() { permit.Release(backstay.Outcome{}) })
			got := ask(t, b.base(t), heading(t, b, "X-Backstay-Timeout-Ms", c.header))
			switch {
			case c.left != 0 && (got.status != http.StatusOK || left != c.left):
				t.Errorf("%s: status %d, %v left", c.name, got.status, left)
			case c.left == 0:
				if got.problem(t, http.StatusGatewayTimeout); calls.Load() != 0 || got.header.Get("X-Backstay-Retry") != "never" {
					t.Errorf("%s: %d calls, %v", c.name, calls.Load(), got.header)
				}
			}
			time.Sleep(time.Minute)
			free.Stop()
			synctest.Wait()
		}
	})
}

func TestAHandlerThatObeysItsDeadlineNeedNotAnswer(t *testing.T) {
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Header().Set("Set-Cookie", "a=b")
		<-req.Context().Done()
	}), middleware.StandardServer("stock"))
	outer := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Request-Id", "7")
		h.ServeHTTP(w, req)
	})
	inMemory(t, outer, func(t *testing.T, b *backend) {
		began := time.Now()
		got := ask(t, b.base(t), heading(t, b, "X-Backstay-Timeout-Ms", "250"))
		got.problem(t, http.StatusGatewayTimeout)
		if took := time.Since(began); took != 250*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if got.header.Get("X-Request-Id") != "7" || got.header.Get("Set-Cookie") != "" {
			t.Errorf("headers %v", got.header)
		}
	})
}

func TestRetriesBelowARetryAreSuppressedOverHTTP(t *testing.T) {
	for _, c := range []struct {
		name   string
		nested bool
		values []string
		want   bool
	}{
		{"a first attempt", false, nil, false},
		{"a second one", false, []string{"2"}, true},
		{"a second one where nesting is wanted", true, []string{"2"}, false},
		{"nonsense counts as the first", false, []string{"two"}, false},
		{"more digits than there are numbers", false, []string{"99999999999999999999999999"}, true},
		{"below one", false, []string{"-3"}, false},
	} {
		var suppressed bool
		h := handler(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			suppressed = retry.Suppressed(req.Context())
		}), middleware.Server{RetryNested: c.nested})
		overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
			ask(t, b.base(t), heading(t, b, "X-Backstay-Attempt", c.values...))
			if suppressed != c.want {
				t.Errorf("%s: suppressed is %v", c.name, suppressed)
			}
		})
	}
}
