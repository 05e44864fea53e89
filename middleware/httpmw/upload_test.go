package httpmw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/timeout"
)

// failTwice answers 503 to the first two requests of a test, without or after
// reading their bodies, and then with the body it got.
func failTwice(read bool) http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, req *http.Request) {
		if n.Add(1) <= 2 {
			if read {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(req.Body)
		fmt.Fprintf(w, "%d %v %s", req.ContentLength, req.TransferEncoding, body)
	}
}

// Acceptance case C4.
func TestC4_AnUploadStreamsBeforeItsEndAndCancelsAtOnce(t *testing.T) {
	arrived := make(chan string, 1)
	overBoth(t, func(_ http.ResponseWriter, req *http.Request) {
		first := make([]byte, 5)
		_, _ = io.ReadFull(req.Body, first)
		arrived <- string(first)
		_, _ = io.Copy(io.Discard, req.Body)
	}, func(t *testing.T, b *backend) {
		ctx, cancel := context.WithCancel(context.Background())
		pr, pw := io.Pipe()
		failed := make(chan error, 1)
		tr := transport(t, b.base(t), retries())
		go func() {
			_, err := tr.RoundTrip(request(t, ctx, http.MethodPut, b.URL, pr))
			failed <- err
		}()
		_, _ = io.WriteString(pw, "hello")
		if got := <-arrived; got != "hello" {
			t.Errorf("the server saw %q before the writer's end", got)
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		for { // the caller's body is closed, though perhaps a moment later
			if _, err := io.WriteString(pw, "more"); err != nil {
				break
			}
		}
	})
}

// Acceptance case C5.
func TestC5_ABodyBeyondTheReplayLimitIsSentOnceWithTheOriginalError(t *testing.T) {
	broken := errors.New("connection reset")
	ctx, report := backstay.WithReport(context.Background())
	target := retries()
	target.HTTP.ReplayLimit = 8
	c := httpmwtest.Script(httpmwtest.Fail(broken))
	tr := transport(t, c, target)
	_, err := tr.RoundTrip(request(t, ctx, http.MethodPut, "http://x.test/", io.NopCloser(strings.NewReader("123456789"))))
	if err != broken {
		t.Errorf("error %v, want the original", err)
	}
	c.Want(t, 1)
	if s := report.Summary(); s.Reason != backstay.ReasonNotRepeatable {
		t.Errorf("summary %v", s)
	}
}

func TestABodyWithinTheReplayLimitIsRepeatedWhole(t *testing.T) {
	for _, read := range []bool{true, false} {
		for _, two := range []bool{false, true} {
			b := serve(t, two, failTwice(read))
			req := request(t, context.Background(), http.MethodPut, b.URL, io.NopCloser(strings.NewReader("within the limit")))
			resp, err := transport(t, b.base(t), retries()).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if got := readAll(t, resp); !strings.HasSuffix(got, " within the limit") || !strings.HasPrefix(got, "-1 ") {
				t.Errorf("HTTP/2 %v, read first %v: the server saw %q", two, read, got)
			}
		}
	}
}

// Acceptance case C6.
func TestC6_GetBodyMakesEveryFurtherBodyAndNothingIsBuffered(t *testing.T) {
	for _, p := range protocols {
		for _, read := range []bool{true, false} {
			b := serve(t, p.two, failTwice(read))
			text := strings.Repeat("y", 1<<20) // far beyond the replay limit
			req := request(t, context.Background(), http.MethodPut, b.URL, strings.NewReader(text))
			var asked atomic.Int64
			again := req.GetBody
			req.GetBody = func() (io.ReadCloser, error) {
				asked.Add(1)
				return again()
			}
			resp, err := transport(t, b.base(t), retries()).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if got := readAll(t, resp); got != fmt.Sprintf("%d [] %s", len(text), text) {
				t.Errorf("%s, read first %v: the server saw %.40q...", p.name, read, got)
			}
			if asked.Load() < 2 {
				t.Errorf("%s, read first %v: GetBody was asked %d times", p.name, read, asked.Load())
			}
		}
	}
}

// Acceptance case C6.
func TestC6_RedirectsOfARetriedUploadWork(t *testing.T) {
	for _, p := range protocols {
		fail := failTwice(true)
		b := serve(t, p.two, func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/old" {
				_, _ = io.Copy(io.Discard, req.Body)
				http.Redirect(w, req, "/new", http.StatusTemporaryRedirect)
				return
			}
			fail(w, req)
		})
		c := &http.Client{Transport: transport(t, b.base(t), retries())}
		resp, err := c.Do(request(t, context.Background(), http.MethodPut, b.URL+"/old", strings.NewReader("moved")))
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, resp); got != "5 [] moved" {
			t.Errorf("%s: the server saw %q", p.name, got)
		}
		if got := b.requests.Load(); got != 4 {
			t.Errorf("%s: %d requests", p.name, got)
		}
	}
}

// Acceptance case C7.
func TestC7_AfterAnAttemptTimeoutTheNextAttemptHasTheWholeBody(t *testing.T) {
	for _, withGetBody := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var last string
			backend := httpmwtest.Script(httpmwtest.Hang(time.Minute), httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
				text, err := io.ReadAll(req.Body)
				last = string(text)
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, errors.Join(err, req.Body.Close())
			}))
			target := retries()
			target.Timeout = &timeout.Config{After: time.Second}
			req := request(t, context.Background(), http.MethodPut, "http://x.test/", strings.NewReader("the whole body"))
			if !withGetBody {
				req.GetBody = nil
			}
			if _, err := transport(t, backend, target).RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			if last != "the whole body" {
				t.Errorf("GetBody %v: the second attempt had %q", withGetBody, last)
			}
		})
	}
}

// Acceptance case C8.
func TestC8_NoBodyStaysNoBody(t *testing.T) {
	type seen struct {
		length   int64
		encoding string
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPost} {
		for name, body := range map[string]io.Reader{"nil": nil, "NoBody": http.NoBody, "empty": strings.NewReader("")} {
			var (
				mu  sync.Mutex
				all []seen
			)
			b := serve(t, false, func(w http.ResponseWriter, req *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, seen{req.ContentLength, strings.Join(req.TransferEncoding, ",")})
				if len(all) < 3 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			})
			req := request(t, context.Background(), method, b.URL, body)
			req.Header.Set("Idempotency-Key", `"k"`)
			resp, err := transport(t, b.base(t), retries()).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if want := slices.Repeat([]seen{{}}, 3); !slices.Equal(all, want) {
				t.Errorf("%s with %s: the server saw %+v", method, name, all)
			}
		}
	}
}

// counted is a request body that counts its closings.
type counted struct {
	io.Reader
	closed atomic.Int64
}

func (b *counted) Close() error {
	b.closed.Add(1)
	return nil
}

// Acceptance case C10.
func TestC10_TheCallersBodyIsClosedOnceAndItsRequestStaysAsItWas(t *testing.T) {
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	open := middleware.Standard("test")
	open.Breaker = &breaker.Config{}
	full := middleware.Standard("test")
	full.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: true}
	for _, c := range []struct {
		name    string
		ctx     context.Context
		target  middleware.Target
		prepare func(*httpmw.Transport)
		steps   []httpmwtest.Step
		sent    int
	}{
		{"success", context.Background(), middleware.Standard("test"), nil, []httpmwtest.Step{httpmwtest.Status(200)}, 1},
		{"success on the third attempt", context.Background(), retries(), nil, []httpmwtest.Step{httpmwtest.Status(503), httpmwtest.Reset(), httpmwtest.Status(200)}, 3},
		{"exhausted", context.Background(), retries(), nil, []httpmwtest.Step{httpmwtest.Reset()}, 3},
		{"not retried", context.Background(), retries(), nil, []httpmwtest.Step{httpmwtest.Status(400)}, 1},
		{"no policy", context.Background(), only("test"), nil, []httpmwtest.Step{httpmwtest.Status(200)}, 1},
		{"dead context", dead, middleware.Standard("test"), nil, nil, 0},
		{"breaker open", context.Background(), open, func(tr *httpmw.Transport) {
			tr.Pipelines().Get("x.test", backstay.Now()).Breaker().ForceOpen()
		}, nil, 0},
		{"bulkhead full", context.Background(), full, func(tr *httpmw.Transport) {
			resp, err := tr.RoundTrip(must(http.NewRequest(http.MethodGet, "http://x.test/", nil)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = resp.Body.Close() })
		}, []httpmwtest.Step{httpmwtest.Status(200).Body("held")}, 1},
		{"closed", context.Background(), middleware.Standard("test"), func(tr *httpmw.Transport) {
			_ = tr.Close(context.Background())
		}, nil, 0},
	} {
		for _, withGetBody := range []bool{false, true} {
			backend := httpmwtest.Script(c.steps...)
			tr := transport(t, backend, c.target)
			if c.prepare != nil {
				c.prepare(tr)
			}
			body := &counted{Reader: strings.NewReader("abc")}
			req := request(t, c.ctx, http.MethodPut, "http://x.test/path?q=1", body)
			req.Header.Set("X-Mine", "1")
			if withGetBody {
				req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("abc")), nil }
			}
			before, header, target := *req, maps.Clone(req.Header), req.URL.String()
			resp, err := tr.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			if got := body.closed.Load(); got != 1 {
				t.Errorf("%s, GetBody %v: the body was closed %d times", c.name, withGetBody, got)
			}
			if req.Body != before.Body || req.ContentLength != before.ContentLength || req.URL != before.URL ||
				req.URL.String() != target || !maps.EqualFunc(req.Header, header, slices.Equal) || req.Context() != before.Context() {
				t.Errorf("%s: the caller's request changed", c.name)
			}
			backend.Want(t, c.sent)
		}
	}
}

// Acceptance case C14.
func TestC14_ConnectAndUpgradeAreNeitherRetriedNorHedgedNorBuffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, method := range []string{http.MethodConnect, http.MethodGet} {
			backend := httpmwtest.Script(httpmwtest.Status(503).After(time.Second))
			target := middleware.Reads("test")
			target.Retry = retries().Retry
			target.Hedge = &hedge.Config{Delay: time.Millisecond}
			req := request(t, hedge.Mark(context.Background()), method, "http://x.test/", nil)
			if method == http.MethodGet {
				req.Header.Set("Connection", "Upgrade")
				req.Header.Set("Upgrade", "websocket")
			}
			resp, err := transport(t, backend, target).RoundTrip(req)
			if err != nil || resp.StatusCode != 503 {
				t.Fatal(resp, err)
			}
			_ = resp.Body.Close()
			backend.Want(t, 1)
		}
	})
}

// Acceptance case C37.
func TestC37_AMarkedPutIsHedgedWithWholeBodiesAndNothingElseThatWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name   string
			method string
			mark   bool
			copies int
		}{
			{"POST", http.MethodPost, false, 1},
			{"marked POST without a key", http.MethodPost, true, 1},
			{"unmarked PUT", http.MethodPut, false, 1},
			{"marked PUT", http.MethodPut, true, 2},
		} {
			var mu sync.Mutex
			var bodies []string
			backend := httpmwtest.Script(httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
				text, err := io.ReadAll(req.Body)
				_ = req.Body.Close()
				mu.Lock()
				bodies = append(bodies, string(text))
				mu.Unlock()
				if err := wait(req.Context(), time.Second); err != nil {
					return nil, err
				}
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, err
			}))
			target := only("test")
			target.Hedge = &hedge.Config{Delay: 10 * time.Millisecond}
			ctx := context.Background()
			if c.mark {
				ctx = hedge.Mark(ctx)
			}
			if _, err := transport(t, backend, target).RoundTrip(request(t, ctx, c.method, "http://x.test/", bytes.NewReader([]byte("whole")))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if want := slices.Repeat([]string{"whole"}, c.copies); !slices.Equal(bodies, want) {
				t.Errorf("%s: bodies %q", c.name, bodies)
			}
		}
	})
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
