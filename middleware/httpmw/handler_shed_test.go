package httpmw_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// Acceptance case C43.
func TestC43_APanicOfAHandlerReachesTheServerAndFreesThePermit(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func()
	}{
		{"http.ErrAbortHandler", func() { panic(http.ErrAbortHandler) }},
		{"runtime.Goexit", runtime.Goexit},
	} {
		for _, limit := range []time.Duration{0, time.Hour} {
			t.Run(c.name+" under a timeout of "+limit.String(), func(t *testing.T) {
				var ends atomic.Bool
				h := keyed(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
					if ends.Load() {
						c.end()
					}
				}), middleware.Server{Timeout: limit, Bulkhead: &bulkhead.Config{Limit: 1}})
				overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
					if b.client.Protocols.UnencryptedHTTP2() && c.name != "http.ErrAbortHandler" {
						t.Skip("net/http never ends a stream whose handler exited")
					}
					for _, key := range []string{"", t.Name()} {
						for range 3 {
							ends.Store(true)
							if got, err := tryAsk(b.base(t), post(t, b.URL, key, "x")); err == nil {
								t.Errorf("answered with %d", got.status)
							}
						}
						ends.Store(false)
						if got := ask(t, b.base(t), post(t, b.URL, key, "x")); got.status != http.StatusOK || got.header.Get("Idempotent-Replayed") != "" {
							t.Errorf("then: %d, %v", got.status, got.header)
						}
					}
				})
				if n := h.Bulkhead().InFlight(); n != 0 {
					t.Errorf("%d in flight", n)
				}
			})
		}
	}
}

// Acceptance case C43.
func TestC43_APanicIsThatOfTheServingGoroutine(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Hour} {
		h := handler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("mine") }),
			middleware.Server{Timeout: limit, Bulkhead: &bulkhead.Config{Limit: 1}})
		inMemory(t, func(w http.ResponseWriter, req *http.Request) {
			defer func() {
				if v := recover(); v != "mine" {
					t.Errorf("recovered %v", v)
				}
			}()
			h.ServeHTTP(w, req)
		}, func(t *testing.T, b *backend) {
			for range 3 {
				ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil))
			}
			if h.Bulkhead().InFlight() != 0 {
				t.Error("the permit is lost")
			}
		})
	}
}

// Acceptance case C43.
func TestC43_TheRoomIsWholeAfterWaitersHaveLeft(t *testing.T) {
	h := handler(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { time.Sleep(time.Second) }),
		middleware.Server{Bulkhead: &bulkhead.Config{Limit: 8, MaxQueue: 16, MaxWait: time.Minute}})
	inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		var permits []bulkhead.Permit
		for range 8 {
			p, ok := h.Bulkhead().TryAcquire(t.Context(), 1)
			if !ok {
				t.Fatal("no room")
			}
			permits = append(permits, p)
		}
		rt := b.base(t)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { // times out in the queue
				got, err := tryAsk(rt, request(t, context.Background(), http.MethodGet, b.URL, nil))
				if err != nil || got.status != http.StatusServiceUnavailable {
					t.Errorf("%d, %v", got.status, err)
				}
			})
			wg.Go(func() { _, _ = tryAsk(rt, request(t, ctx, http.MethodGet, b.URL, nil)) })
		}
		synctest.Wait()
		if n := h.Bulkhead().Queued(); n != 16 {
			t.Errorf("%d wait", n)
		}
		cancel()
		wg.Wait()
		for _, p := range permits {
			p.Release(success)
		}
		synctest.Wait()
		for range 8 {
			wg.Go(func() {
				if got, err := tryAsk(rt, request(t, context.Background(), http.MethodGet, b.URL, nil)); got.status != http.StatusOK {
					t.Errorf("%d, %v", got.status, err)
				}
			})
		}
		wg.Wait()
		if h.Bulkhead().InFlight() != 0 || h.Bulkhead().Queued() != 0 {
			t.Error("the room is not whole")
		}
	})
}

func TestAFullServerSaysWhenToComeBack(t *testing.T) {
	var calls atomic.Int64
	h := handler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }),
		middleware.Server{Name: "stock", Bulkhead: &bulkhead.Config{Limit: 1}})
	overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		p, _ := h.Bulkhead().TryAcquire(t.Context(), 1)
		defer p.Release(success)
		got := ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil))
		if reason := got.problem(t, http.StatusServiceUnavailable); reason != "bulkhead_full" {
			t.Errorf("reason %q", reason)
		}
		if got.header.Get("Retry-After") != "1" || got.header.Get("X-Backstay-Retry") != "" || calls.Load() != 0 {
			t.Errorf("%v, %d calls", got.header, calls.Load())
		}
	})
	t.Run("by its rate", func(t *testing.T) {
		h := handler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
			middleware.Server{Bulkhead: &bulkhead.Config{Rate: &bulkhead.RateConfig{PerSecond: 0.1, Burst: 1}}})
		inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
			time.Sleep(time.Minute)
			ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil))
			got := ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil))
			if reason := got.problem(t, http.StatusServiceUnavailable); reason != "rate_limited" || !strings.HasPrefix(got.header.Get("Retry-After"), "1") || len(got.header.Get("Retry-After")) != 2 { // 10 s, or a moment more
				t.Errorf("reason %q, %v", reason, got.header)
			}
		})
	})
}

func TestLowPrioritiesAreShedFirst(t *testing.T) {
	config := middleware.Server{
		PriorityHeader: "X-Priority",
		Bulkhead:       &bulkhead.Config{Limit: 2, Priorities: &bulkhead.PriorityConfig{DefaultShare: 0.5, SheddableShare: 0.5}},
	}
	callback := httpmw.ServerPriority(func(req *http.Request) bulkhead.Priority {
		if req.URL.Path == "/pay" {
			return bulkhead.Critical
		}
		return bulkhead.Sheddable
	})
	for _, c := range []struct {
		name, path string
		values     []string
		options    []httpmw.HandlerOption
		status     int
	}{
		{"a default request", "/", nil, nil, 503},
		{"a critical one", "/", []string{"critical"}, nil, 200},
		{"in capitals, with spaces", "/", []string{" Critical "}, nil, 200},
		{"a sheddable one", "/", []string{"sheddable"}, nil, 503},
		{"one of no known priority", "/", []string{"urgent"}, nil, 503},
		{"two that differ: the lower counts", "/", []string{"critical", "sheddable"}, nil, 503},
		{"in the other order", "/", []string{"sheddable", "critical"}, nil, 503},
		{"by a callback", "/pay", nil, []httpmw.HandlerOption{callback}, 200},
		{"which wins over the header", "/", []string{"critical"}, []httpmw.HandlerOption{callback}, 503},
	} {
		h := handler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), config, c.options...)
		inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
			p, _ := h.Bulkhead().TryAcquire(t.Context(), 1)
			defer p.Release(success)
			req := request(t, context.Background(), http.MethodGet, b.URL+c.path, nil)
			req.Header["X-Priority"] = c.values
			if got := ask(t, b.base(t), req); got.status != c.status {
				t.Errorf("%s: status %d, want %d", c.name, got.status, c.status)
			}
		})
	}
}
