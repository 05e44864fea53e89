package httpmw_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// Acceptance case C16.
func TestC16_AWriteIsSentOnceUnlessKeyedMarkedOrUnsent(t *testing.T) {
	unavailable, reset := httpmwtest.Status(503), httpmwtest.Reset()
	for _, c := range []struct {
		name   string
		method string
		ctx    func(context.Context) context.Context
		header string // of the idempotency key
		step   httpmwtest.Step
		sent   int
	}{
		{"POST with 503", http.MethodPost, nil, "", unavailable, 1},
		{"POST with a reset", http.MethodPost, nil, "", reset, 1},
		{"POST with 429 and a wait", http.MethodPost, nil, "", httpmwtest.Status(429).RetryAfter(time.Second), 1},
		{"PATCH with 503", http.MethodPatch, nil, "", unavailable, 1},
		{"a method of one's own with 503", "BUY", nil, "", unavailable, 1},
		{"marked POST with 503", http.MethodPost, retry.MarkRepeatable, "", unavailable, 3},
		{"marked POST with a reset", http.MethodPost, retry.MarkRepeatable, "", reset, 3},
		{"keyed POST with 503", http.MethodPost, nil, `"k1"`, unavailable, 3},
		{"keyed POST with a reset", http.MethodPost, nil, "k1", reset, 3},
		{"POST with a key in its context", http.MethodPost, withKey, "", reset, 3},
		{"PUT with a reset", http.MethodPut, nil, "", reset, 3},
		{"DELETE with 503", http.MethodDelete, nil, "", unavailable, 3},
		{"GET with a reset", http.MethodGet, nil, "", reset, 3},
		{"POST that was refused a connection", http.MethodPost, nil, "", httpmwtest.Refuse(), 3},
		{"POST that the proxy knows to be unsent", http.MethodPost, nil, "", unavailable.Header("L5d-Retryable", "true"), 3},
		{"GET that the server does not want again", http.MethodGet, nil, "", unavailable.Header("X-Should-Retry", "false"), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			backend := httpmwtest.Script(c.step)
			ctx := context.Background()
			if c.ctx != nil {
				ctx = c.ctx(ctx)
			}
			req := request(t, ctx, c.method, "http://x.test/", strings.NewReader("25 EUR"))
			if c.header != "" {
				req.Header.Set("Idempotency-Key", c.header)
			}
			if resp, err := transport(t, backend, retries()).RoundTrip(req); err == nil {
				_ = resp.Body.Close()
			}
			seen := backend.Requests()
			if len(seen) != c.sent {
				t.Errorf("%s: %d attempts, want %d", c.name, len(seen), c.sent)
			}
			for _, r := range seen {
				if got, want := r.Header.Values("Idempotency-Key"), seen[0].Header.Values("Idempotency-Key"); !slices.Equal(got, want) {
					t.Errorf("%s: the keys %q and %q", c.name, got, want)
				}
			}
		})
	}
}

func withKey(ctx context.Context) context.Context { return idempotency.WithKey(ctx, "k1") }

// Acceptance case C16.
func TestC16_AResetOnARealConnectionDoesNotRepeatAPost(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		overBoth(t, func(_ http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body)
			panic(http.ErrAbortHandler)
		}, func(t *testing.T, b *backend) {
			ctx, want := context.Background(), int64(1)
			if keyed {
				ctx, want = withKey(ctx), 3
			}
			ctx, report := backstay.WithReport(ctx)
			_, err := transport(t, b.base(t), retries()).RoundTrip(request(t, ctx, http.MethodPost, b.URL, strings.NewReader("25 EUR")))
			if err == nil || b.requests.Load() != want {
				t.Errorf("keyed %v: %d requests; %v; %v", keyed, b.requests.Load(), err, report)
			}
			if s := report.Summary(); !keyed && s.Reason != backstay.ReasonNotRepeatable {
				t.Errorf("reason %q", s.Reason)
			}
		})
	}
}

var presets = []struct {
	name string
	of   func(string) middleware.Target
}{{"Standard", middleware.Standard}, {"Internal", middleware.Internal}, {"Reads", middleware.Reads}}

// Acceptance case C60.
func TestC60_NoPresetRepeatsAPostOnceBytesWereSent(t *testing.T) {
	ends := map[string]httpmwtest.Step{
		"503":                    httpmwtest.Status(503),
		"503 with a wait":        httpmwtest.Status(503).RetryAfter(time.Second),
		"429 with a wait":        httpmwtest.Status(429).RetryAfter(time.Second),
		"409 with a wait":        httpmwtest.Status(409).RetryAfter(time.Second),
		"reset":                  httpmwtest.Reset(),
		"end of the connection":  httpmwtest.Fail(io.ErrUnexpectedEOF),
		"no answer in time":      httpmwtest.BlackHole(),
		"a slow answer":          httpmwtest.Hang(time.Second), // longer than any hedge's delay
		"no answer, then no end": httpmwtest.Serve(deaf),
	}
	for _, preset := range presets {
		for name, end := range ends {
			synctest.Test(t, func(t *testing.T) {
				backend := httpmwtest.Script(append(slices.Repeat([]httpmwtest.Step{httpmwtest.Status(200)}, 200), end)...)
				tr := transport(t, backend, preset.of("test"))
				for range 200 { // teaches the hedge how quick the backend is
					if _, err := get(t, hedge.Mark(context.Background()), tr); err != nil {
						t.Fatal(err)
					}
				}
				req := request(t, hedge.Mark(context.Background()), http.MethodPost, "http://x.test/", strings.NewReader("25 EUR"))
				if resp, err := tr.RoundTrip(req); err == nil {
					_ = resp.Body.Close()
				}
				synctest.Wait()
				if got := len(backend.Requests()) - 200; got != 1 {
					t.Errorf("%s, %s: %d attempts", preset.name, name, got)
				}
			})
		}
	}
}

// deaf is a backend that answers only when its caller has long gone.
func deaf(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	_ = req.Body.Close()
	<-req.Context().Done()
	time.Sleep(time.Second)
	return answer(req, http.StatusOK), nil
}

func TestAConflictWithAWaitIsRepeatedWhereTheRequestCarriedAKey(t *testing.T) {
	conflict := httpmwtest.Status(409).RetryAfter(time.Second)
	for _, c := range []struct {
		name   string
		method string
		keyed  bool
		step   httpmwtest.Step
		sent   int
	}{
		{"with a key and a wait", http.MethodPost, true, conflict, 2},
		{"without a key", http.MethodPost, false, conflict, 1},
		{"without a key, though it could be repeated", http.MethodPut, false, conflict, 1},
		{"without a wait", http.MethodPost, true, httpmwtest.Status(409), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			backend := httpmwtest.Script(c.step, httpmwtest.Status(200))
			req := request(t, context.Background(), c.method, "http://x.test/", nil)
			target := retries()
			target.Idempotency = &idempotency.Config{Header: "X-Request-Key"}
			if c.keyed {
				req.Header.Set("X-Request-Key", "k1")
			}
			resp, err := transport(t, backend, target).RoundTrip(req)
			if err != nil || (resp.StatusCode == 200) != (c.sent == 2) {
				t.Errorf("%s: %v, %v", c.name, resp, err)
			}
			backend.Want(t, c.sent)
			if w := backend.Waits(); len(w) > 0 && w[0] < time.Second {
				t.Errorf("%s: came back after %v", c.name, w)
			}
		})
	}
}

// Acceptance case C5.
func TestC5_AResetOnARealConnectionInMidBodyIsNotRepeatedBeyondTheReplayLimit(t *testing.T) {
	overBoth(t, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.CopyN(io.Discard, req.Body, 100<<10)
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, b *backend) {
		ctx, report := backstay.WithReport(context.Background())
		endless := io.NopCloser(strings.NewReader(strings.Repeat("x", 1<<20)))
		_, err := transport(t, b.base(t), retries()).RoundTrip(request(t, ctx, http.MethodPut, b.URL, endless))
		if err == nil || strings.Contains(err.Error(), "retry") || b.requests.Load() != 1 {
			t.Errorf("%d requests, error %v", b.requests.Load(), err)
		}
		if s := report.Summary(); s.Reason != backstay.ReasonNotRepeatable || s.Attempts != 1 {
			t.Errorf("report %v", report)
		}
	})
}

// Acceptance case C7.
func TestC7_AfterAnAttemptTimeoutARealServerGetsTheWholeBodyAgain(t *testing.T) {
	var n atomic.Int64
	inMemory(t, func(w http.ResponseWriter, req *http.Request) {
		if n.Add(1)%2 == 1 {
			_, _ = io.Copy(io.Discard, req.Body)
			_ = wait(req.Context(), time.Hour)
			return
		}
		_, _ = io.Copy(w, req.Body)
	}, func(t *testing.T, b *backend) {
		target := retries()
		target.Timeout = &timeout.Config{After: time.Second}
		text := strings.Repeat("whole ", 5000)
		for _, body := range []io.Reader{strings.NewReader(text), io.NopCloser(strings.NewReader(text))} {
			began := time.Now()
			resp, err := transport(t, b.base(t), target).RoundTrip(request(t, context.Background(), http.MethodPut, b.URL, body))
			if err != nil {
				t.Fatal(err)
			}
			if got := readAll(t, resp); got != text || time.Since(began) != time.Second {
				t.Errorf("the second attempt brought %d bytes of %d, after %v", len(got), len(text), time.Since(began))
			}
		}
	})
}
