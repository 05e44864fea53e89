package httpmw_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/timeout"
)

// charging answers every charge with a number of its own, after a while.
type charging struct {
	takes time.Duration
	calls atomic.Int64
	end   func(w http.ResponseWriter, n int64) // nil: 201
}

func (c *charging) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	n := c.calls.Add(1)
	time.Sleep(c.takes)
	if c.end != nil {
		c.end(w, n)
		return
	}
	w.Header().Add("X-Part", "a")
	w.Header().Add("X-Part", "b\xff")
	w.Header().Set("Location", fmt.Sprintf("/charges/%d", n))
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "charge %d of %s, %v", n, body, err)
}

// same fails the test unless two replies are the same, but for the mark.
func same(t *testing.T, first, again reply) {
	t.Helper()
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("marks: %v, %v", first.header, again.header)
	}
	again.header.Del("Idempotent-Replayed")
	first.header.Del("Date")
	again.header.Del("Date")
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("got\n%v, want\n%v", again, first)
	}
}

// Acceptance case C46.
func TestC46_AKeyedPostIsWorkedOnOnceOverHTTP(t *testing.T) {
	t.Run("after the first", func(t *testing.T) {
		overBoth(t, nil, func(t *testing.T, b *backend) {
			c := &charging{}
			mount(b, keyed(t, c, middleware.Server{}))
			first := ask(t, b.base(t), post(t, b.URL, "k", "25"))
			if first.status != http.StatusCreated || first.body != "charge 1 of 25, <nil>" {
				t.Errorf("first: %v", first)
			}
			for range 3 {
				same(t, first, ask(t, b.base(t), post(t, b.URL, "k", "25")))
			}
			if got := ask(t, b.base(t), post(t, b.URL, "k", "26")); got.problem(t, http.StatusUnprocessableEntity) != "key_mismatch" || c.calls.Load() != 1 {
				t.Errorf("another body: %v", got)
			}
		})
	})
	t.Run("while the first is in flight", func(t *testing.T) {
		c := &charging{takes: 10 * time.Second}
		inMemory(t, nil, func(t *testing.T, b *backend) {
			c.calls.Store(0)
			mount(b, keyed(t, c, middleware.Server{}))
			rt := b.base(t)
			var wg sync.WaitGroup
			replies := make([]reply, 5)
			for i := range replies {
				wg.Go(func() { replies[i], _ = tryAsk(rt, post(t, b.URL, "k", "25")) })
				synctest.Wait()
			}
			got := ask(t, rt, post(t, b.URL, "k", "26"))
			got.problem(t, http.StatusUnprocessableEntity)
			wg.Wait()
			for _, again := range replies[1:] {
				first := replies[0]
				first.header = first.header.Clone()
				same(t, first, again)
			}
			if c.calls.Load() != 1 {
				t.Errorf("%d calls", c.calls.Load())
			}
		})
	})
	t.Run("or is told to come back", func(t *testing.T) {
		c := &charging{takes: 10 * time.Second}
		inMemory(t, nil, func(t *testing.T, b *backend) {
			c.calls.Store(0)
			mount(b, keyed(t, c, middleware.Server{Idempotency: &idempotency.GuardConfig{MaxWait: idempotency.NoWait, RetryAfter: 3 * time.Second}}))
			rt := b.base(t)
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = tryAsk(rt, post(t, b.URL, "k", "25")) })
			synctest.Wait()
			got := ask(t, rt, post(t, b.URL, "k", "25"))
			got.problem(t, http.StatusConflict)
			if got.header.Get("Retry-After") != "3" {
				t.Errorf("headers %v", got.header)
			}
			target := patient(retries())
			target.Retry.MaxAttempts = 9
			resp, err := transport(t, rt, target).RoundTrip(post(t, b.URL, "k", "25"))
			if err != nil || readAll(t, resp) != "charge 1 of 25, <nil>" {
				t.Errorf("a client that retries: %v", err)
			}
			wg.Wait()
		})
	})
}

// mount puts h behind a backend that has no handler yet.
func mount(b *backend, h http.Handler) { b.mounted.Store(&h) }

// Acceptance case C46.
func TestC46_OnlyVerdictsAreKept(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(w http.ResponseWriter, n int64)
		kept bool
	}{
		{"nothing said", func(http.ResponseWriter, int64) {}, true},
		{"no content", func(w http.ResponseWriter, _ int64) { w.WriteHeader(http.StatusNoContent) }, true},
		{"a mistake of the caller's", func(w http.ResponseWriter, _ int64) { http.Error(w, "no", http.StatusBadRequest) }, true},
		{"a fault", func(w http.ResponseWriter, _ int64) { http.Error(w, "no", http.StatusInternalServerError) }, false},
		{"overload", func(w http.ResponseWriter, _ int64) { http.Error(w, "no", http.StatusTooManyRequests) }, false},
		{"who asks", func(w http.ResponseWriter, _ int64) { http.Error(w, "no", http.StatusForbidden) }, false},
		{"a panic", func(_ http.ResponseWriter, n int64) {
			if n == 1 {
				panic(http.ErrAbortHandler)
			}
		}, false},
		{"a panic in the middle", func(w http.ResponseWriter, n int64) {
			_, _ = io.WriteString(w, "half")
			if n == 1 {
				panic(http.ErrAbortHandler)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			overBoth(t, nil, func(t *testing.T, b *backend) {
				work := &charging{end: c.end}
				mount(b, keyed(t, work, middleware.Server{}))
				_, _ = tryAsk(b.base(t), post(t, b.URL, "k", "x"))
				got := ask(t, b.base(t), post(t, b.URL, "k", "x"))
				if replayed := got.header.Get("Idempotent-Replayed") == "true"; replayed != c.kept || (work.calls.Load() == 1) != c.kept {
					t.Errorf("replayed is %v after %d calls", replayed, work.calls.Load())
				}
			})
		})
	}
}

// Acceptance case C46.
func TestC46_TenantsAndRoutesDoNotShareKeys(t *testing.T) {
	c := &charging{}
	mux := http.NewServeMux()
	mux.Handle("POST /accounts/{id}/charge", c)
	mux.Handle("/", c)
	h := keyed(t, mux, middleware.Server{}, httpmw.ServerTenant(func(req *http.Request) string { return req.Header.Get("X-Tenant") }))
	overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		key := idempotency.NewKey()
		for _, c := range []struct {
			name, method, path, tenant string
			status                     int
			replayed                   bool
		}{
			{"the first", "POST", "/accounts/1/charge", "a", 201, false},
			{"again", "POST", "/accounts/1/charge", "a", 201, true},
			{"another tenant", "POST", "/accounts/1/charge", "b", 201, false},
			{"another route", "POST", "/refund", "a", 201, false},
			{"the same route for another account", "POST", "/accounts/2/charge", "a", 422, false},
			{"the same route with a query", "POST", "/accounts/1/charge?really=1", "a", 422, false},
			{"another method of the same route", "PATCH", "/refund", "a", 422, false},
			{"a read", "GET", "/refund", "a", 201, false},
		} {
			req := post(t, b.URL+c.path, key, "x")
			req.Method = c.method
			req.Header.Set("X-Tenant", c.tenant)
			got := ask(t, b.base(t), req)
			if got.status != c.status || (got.header.Get("Idempotent-Replayed") == "true") != c.replayed {
				t.Errorf("%s: %d, %v", c.name, got.status, got.header)
			}
		}
	})
}

func TestKeysThatCannotBeUsedAreTheCallersMistake(t *testing.T) {
	work := &charging{}
	h := keyed(t, work, middleware.Server{Idempotency: &idempotency.GuardConfig{Required: true, MaxBody: 100}})
	overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		for _, c := range []struct {
			name, method string
			keys         []string
			body         string
			status       int
		}{
			{"none where one is required", "POST", nil, "x", 400},
			{"an empty one", "POST", []string{""}, "x", 400},
			{"an empty string", "POST", []string{`""`}, "x", 400},
			{"two", "POST", []string{`"a"`, `"a"`}, "x", 400},
			{"without its closing quote", "POST", []string{`"a`}, "x", 400},
			{"beyond ASCII", "POST", []string{"clé"}, "x", 400},
			{"256 characters", "POST", []string{strings.Repeat("k", 256)}, "x", 400},
			{"100 kB", "POST", []string{strings.Repeat("k", 100_000)}, "x", 400},
			{"too large a body", "POST", []string{"large"}, strings.Repeat("x", 101), 413},
			{"as large as allowed", "POST", []string{"fits"}, strings.Repeat("x", 100), 201},
			{"none for a PUT, which may be repeated by itself", "PUT", nil, "x", 201},
			{"none for a read", "GET", nil, "", 201},
		} {
			req := request(t, context.Background(), c.method, b.URL, strings.NewReader(c.body))
			req.Header["Idempotency-Key"] = c.keys
			before := work.calls.Load()
			got := ask(t, b.base(t), req)
			if c.status >= 400 {
				got.problem(t, c.status)
				if len(got.body) > 1000 || work.calls.Load() != before {
					t.Errorf("%s: %d bytes, %d calls", c.name, len(got.body), work.calls.Load()-before)
				}
			} else if got.status != c.status {
				t.Errorf("%s: status %d", c.name, got.status)
			}
		}
	})
}

func TestAnAnswerThatIsTooLargeToKeepIsGivenOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int
		kept  bool
	}{{"just right", 256<<10 - 200, true}, {"too large", 256<<10 + 1, false}, {"a lot too large", 3 << 20, false}} {
		t.Run(c.name, func(t *testing.T) {
			var seen testkit.Recorder
			overBoth(t, nil, func(t *testing.T, b *backend) {
				seen.Take()
				whole := strings.Repeat("x", c.bytes)
				mount(b, keyed(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					for piece := range slices.Chunk([]byte(whole), 10_000) {
						if _, err := w.Write(piece); err != nil {
							t.Error(err)
						}
					}
				}), middleware.Server{}, httpmw.ServerObserver(&seen)))
				if got := ask(t, b.base(t), post(t, b.URL, "k", "x")); got.status != 200 || got.body != whole {
					t.Errorf("the first gets %d, %d bytes", got.status, len(got.body))
				}
				got := ask(t, b.base(t), post(t, b.URL, "k", "x"))
				if c.kept && got.body != whole {
					t.Errorf("again: %d, %d bytes", got.status, len(got.body))
				}
				if !c.kept {
					got.problem(t, http.StatusConflict)
				}
				if told := len(seen.Events(idempotency.AnswerNotKept)); (told == 0) != c.kept {
					t.Errorf("told %d times", told)
				}
			})
		})
	}
}

func TestAFlushedAnswerIsKeptAsWell(t *testing.T) {
	overBoth(t, nil, func(t *testing.T, b *backend) {
		mount(b, keyed(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 3 {
				fmt.Fprintf(w, "data: %d\n\n", i)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
			}
			w.Header().Set("X-Sum", "3")
			w.Header().Set(http.TrailerPrefix+"X-Late", "yes")
			if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
				t.Error("a connection with an answer that is kept was taken")
			}
		}), middleware.Server{}))
		first := ask(t, b.base(t), post(t, b.URL, "k", "x"))
		if first.trailer.Get("X-Sum") != "3" || first.trailer.Get("X-Late") != "yes" || strings.Count(first.body, "data") != 3 {
			t.Errorf("first: %v", first)
		}
		same(t, first, ask(t, b.base(t), post(t, b.URL, "k", "x")))
	})
}

func TestWhatStandsOutsideOfAKeyedHandlerIsNotReplayed(t *testing.T) {
	var n atomic.Int64
	h := keyed(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Vary", "Accept")
	}), middleware.Server{})
	overBoth(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Request-Id", fmt.Sprint(n.Add(1)))
		w.Header().Set("Vary", "Origin")
		h.ServeHTTP(w, req)
	}, func(t *testing.T, b *backend) {
		key := idempotency.NewKey()
		for range 2 {
			got := ask(t, b.base(t), post(t, b.URL, key, "x"))
			if got.header.Get("X-Request-Id") != fmt.Sprint(n.Load()) || strings.Join(got.header["Vary"], " ") != "Origin Accept" {
				t.Errorf("headers %v", got.header)
			}
		}
	})
}

// Acceptance case C57.
func TestC57_ARetryThatComesWhileTheFirstStillWorksGetsItsAnswer(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit time.Duration // the handler's timeout
		lease time.Duration
	}{
		{"the client gives up", 0, 30 * time.Second},
		{"the lease is shorter than the work", 0, time.Second},
		{"the server answers in the handler's place", 2 * time.Second, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inMemory(t, nil, func(t *testing.T, b *backend) {
				work := &charging{takes: 10 * time.Second}
				mount(b, keyed(t, work, middleware.Server{
					Timeout: c.limit, Idempotency: &idempotency.GuardConfig{Lease: c.lease},
				}))
				target := patient(retries())
				target.Timeout = &timeout.Config{After: 4 * time.Second}
				target.Retry.MaxAttempts = 9
				ctx, report := backstay.WithReport(context.Background())
				resp, err := transport(t, b.base(t), target).RoundTrip(post(t, b.URL, "k", "25").WithContext(ctx))
				if err != nil {
					t.Fatalf("%v: %v", report, err)
				}
				if got := readAll(t, resp); got != "charge 1 of 25, <nil>" || work.calls.Load() != 1 || resp.Header.Get("Idempotent-Replayed") != "true" {
					t.Errorf("got %q after %d calls, %v, %v", got, work.calls.Load(), resp.Header, report)
				}
			})
		})
	}
}

// A name without values keeps net/http from guessing what the content is, and
// browsers from running it.
func TestAHeaderThatIsSetToNothingIsNothingInAReplay(t *testing.T) {
	overBoth(t, nil, func(t *testing.T, b *backend) {
		mount(b, keyed(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "<html>")
		}), middleware.Server{}))
		first := ask(t, b.base(t), post(t, b.URL, "k", "x"))
		if first.header.Get("Content-Type") != "" {
			t.Errorf("first: %v", first)
		}
		same(t, first, ask(t, b.base(t), post(t, b.URL, "k", "x")))
	})
}

func TestAKeyCountsForAPathWhateverTheHost(t *testing.T) {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	c := &charging{}
	mux := http.NewServeMux()
	mux.Handle("POST /charges", c)
	wrapped := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { mux.ServeHTTP(w, req) })
	server := middleware.Server{Idempotency: &idempotency.GuardConfig{}}
	for _, host := range []string{"http://10.0.0.1:8080", "http://10.0.0.2:8080"} {
		h := handler(t, wrapped, server, httpmw.ServerStore(store)) // each instance has its own
		w := httptest.NewRecorder()
		h.ServeHTTP(w, post(t, host+"/charges", "k", "25"))
		if w.Code != http.StatusCreated || !strings.HasPrefix(w.Body.String(), "charge 1 ") {
			t.Errorf("%s: %d, %s", host, w.Code, w.Body)
		}
	}
}

func TestAKeyedHandlerThatHangsEndsSoonAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, lasted := time.Now(), time.Duration(0)
		hung := http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			<-req.Context().Done()
			lasted = time.Since(began)
		})
		h := keyed(t, hung, middleware.Server{
			Timeout: time.Second / 2, Deadline: &deadline.IncomingConfig{Cap: time.Second}, Bulkhead: &bulkhead.Config{Limit: 1},
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, post(t, "http://orders/charges", "k", "25"))
		if after := time.Since(began); w.Code != http.StatusServiceUnavailable || after != time.Second/2 {
			t.Errorf("answered %d after %v", w.Code, after)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if lasted != time.Second || h.Bulkhead().InFlight() != 0 {
			t.Errorf("the handler lasted %v, %d in flight", lasted, h.Bulkhead().InFlight())
		}
	})
}

// failingStore is one that cannot be reached.
type failingStore struct {
	idempotency.Store
	err error
}

func (s failingStore) Begin(context.Context, idempotency.Claim, idempotency.Fingerprint, time.Duration) (idempotency.Result, error) {
	return idempotency.Result{}, s.err
}

func (s failingStore) Release(context.Context, idempotency.Claim) error { return s.err }

func TestACallerIsToldNothingOfTheStore(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.7:6379: connect: connection refused")
	var seen testkit.Recorder
	h := handler(t, &charging{}, middleware.Server{Name: "orders", Idempotency: &idempotency.GuardConfig{}},
		httpmw.ServerStore(failingStore{err: secret}), httpmw.ServerObserver(&seen))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, post(t, "http://orders/charges", "k", "25"))
	got := reply{status: w.Code, header: w.Result().Header, body: w.Body.String()}
	if reason := got.problem(t, http.StatusServiceUnavailable); reason != "store_failed" || strings.Contains(got.body, "10.0.0.7") || strings.Contains(got.body, "orders") {
		t.Errorf("reason %q in %s", reason, got.body)
	}
	if told := seen.Events(backstay.CallRejected); len(told) != 1 || !errors.Is(told[0].Err, secret) {
		t.Errorf("the observer is told %v", told)
	}
}

func TestCallsOfKeyedWorkHaveTheSameKeysWheneverItRuns(t *testing.T) {
	var sent [][]string
	below := middleware.Target{Name: "bank", Config: middleware.Config{Idempotency: &idempotency.Config{Generate: true}}}
	bank := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
		sent[len(sent)-1] = append(sent[len(sent)-1], req.Header.Get("Idempotency-Key"))
		return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody, Request: req}, nil
	}), below)
	h := keyed(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		sent = append(sent, nil)
		for _, path := range []string{"/charge", "/charge", "/mail"} {
			out := request(t, req.Context(), http.MethodPost, "http://bank"+path, strings.NewReader("x"))
			resp, err := bank.RoundTrip(out)
			if err != nil {
				t.Error(err)
				continue
			}
			_ = resp.Body.Close()
		}
		w.WriteHeader(http.StatusInternalServerError) // it frees the key
	}), middleware.Server{Name: "orders"})
	for _, key := range []string{"k", "k", "another"} {
		h.ServeHTTP(httptest.NewRecorder(), post(t, "http://orders/buy", key, "25"))
	}
	if len(sent) != 3 || len(sent[0]) != 3 || sent[0][0] == sent[0][1] || sent[0][0] == "" ||
		!slices.Equal(sent[0], sent[1]) || slices.Contains(sent[2], sent[0][0]) {
		t.Errorf("the bank saw %q", sent)
	}
}
