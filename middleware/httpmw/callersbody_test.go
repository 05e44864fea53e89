package httpmw_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// taking reads the whole body, as a transport does, and answers.
func taking(status int, got *string) roundTripper {
	return func(req *http.Request) (*http.Response, error) {
		defer req.Body.Close()
		text, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		*got = string(text)
		return answer(req, status), nil
	}
}

func TestABodyThatItsCallerBreaksOffIsNotHeldAgainstTheBackend(t *testing.T) {
	gone := errors.New("the client has gone")
	overBoth(t, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
	}, func(t *testing.T, b *backend) {
		target := patient(retries())
		target.Breaker = &breaker.Config{}
		tr := transport(t, b.base(t), target)
		const calls = 12 // enough to open the breaker
		for range calls {
			body := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(gone))
			ctx, report := backstay.WithReport(context.Background())
			_, err := tr.RoundTrip(request(t, ctx, http.MethodPut, b.URL, body))
			if !errors.Is(err, gone) || report.Summary().Attempts != 1 {
				t.Errorf("%v: %v", err, report)
			}
		}
		for _, p := range tr.Pipelines().All {
			if c := p.Breaker().Counts(); c.Calls != 0 || p.Breaker().State() != breaker.Closed {
				t.Errorf("the breaker is %v and counted %+v", p.Breaker().State(), c)
			}
		}
	})
}

func TestAGetBodyWithoutABodyIsAnErrorAndNoPanic(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
	}, func(t *testing.T, b *backend) {
		req := request(t, context.Background(), http.MethodPut, b.URL, strings.NewReader("abc"))
		req.GetBody = func() (io.ReadCloser, error) { return nil, nil }
		_, err := transport(t, b.base(t), patient(retries())).RoundTrip(req)
		if err == nil || !strings.Contains(err.Error(), "GetBody") {
			t.Error(err)
		}
	})
}

func TestTheFirstCopyNeedsNoGetBody(t *testing.T) {
	var got string
	tr := transport(t, taking(http.StatusOK, &got), hedged(hedge.Config{Delay: time.Hour}))
	req := request(t, hedge.Mark(context.Background()), http.MethodPut, "http://x.test/", strings.NewReader("abc"))
	req.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("no") }
	if _, err := tr.RoundTrip(req); err != nil || got != "abc" {
		t.Errorf("sent %q, %v", got, err)
	}
}

func TestABodyThatNobodyReadIsSentAgainWithoutAReplayBuffer(t *testing.T) {
	target := retries()
	target.HTTP.ReplayLimit = middleware.NoReplay
	n, got := 0, ""
	tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
		if n++; n == 1 { // as when no connection can be made
			_ = req.Body.Close()
			return nil, backstay.Mark(errors.New("refused"), backstay.Outcome{
				Class: backstay.Transient, Marks: backstay.Marks{Unsent: true},
			})
		}
		return taking(http.StatusOK, &got)(req)
	}), target)
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, "abc")
		_ = w.Close()
	}()
	if _, err := tr.RoundTrip(request(t, context.Background(), http.MethodPost, "http://x.test/", r)); err != nil || got != "abc" {
		t.Errorf("after %d attempts: sent %q, %v", n, got, err)
	}
}

func TestAnAnswerThatComesBeforeTheBodysEndIsNotLost(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // else net/http waits for the body
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "sorry")
	}, func(t *testing.T, b *backend) {
		for _, limited := range []bool{true, false} {
			target := patient(retries())
			if !limited {
				target.Timeout = nil
			}
			r, w := io.Pipe()
			go func() { _, _ = io.WriteString(w, "abc") }() // and no more
			resp, err := transport(t, b.base(t), target).RoundTrip(request(t, context.Background(), http.MethodPut, b.URL, r))
			if err != nil {
				t.Errorf("with a limit: %t: %v", limited, err)
			} else if text := readAll(t, resp); text != "sorry" {
				t.Errorf("with a limit: %t: read %q", limited, text)
			}
			_ = w.Close()
		}
	})
}

func TestATransportThatNeverClosesABodyHasItClosed(t *testing.T) {
	for name, target := range map[string]middleware.Target{"standard": middleware.Standard("test"), "without limits": retries()} {
		synctest.Test(t, func(t *testing.T) {
			body := &counted{Reader: strings.NewReader("abc")}
			_, err := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, req.Body)
				return nil, errors.New("reset")
			}), target).RoundTrip(request(t, context.Background(), http.MethodPut, "http://x.test/", body))
			if got := body.closed.Load(); err == nil || got != 1 {
				t.Errorf("%s: %v; closed %d times", name, err, got)
			}
		})
	}
}

func TestABodyIsClosedWhereTheKeyFunctionExits(t *testing.T) {
	tr := transport(t, taking(200, new(string)), only("test"), httpmw.WithKey(func(*http.Request) string {
		runtime.Goexit()
		return ""
	}))
	body := &counted{Reader: strings.NewReader("abc")}
	req := request(t, context.Background(), http.MethodPut, "http://x.test/", body)
	exits(func() { _, _ = tr.RoundTrip(req) })
	if got := body.closed.Load(); got != 1 {
		t.Errorf("closed %d times", got)
	}
}

func TestAnAnswerIsFreedWhereTheClassifierExits(t *testing.T) {
	target := only("test")
	target.Breaker, target.Bulkhead = &breaker.Config{}, &bulkhead.Config{HoldBody: true}
	body := &counted{Reader: strings.NewReader("abc")}
	tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
		resp := answer(req, http.StatusOK)
		resp.Body = body
		return resp, nil
	}), target, httpmw.WithClassifier(func(*http.Response, error, backstay.Outcome) (o backstay.Outcome) {
		runtime.Goexit()
		return o
	}))
	req := request(t, context.Background(), http.MethodGet, "http://x.test/", nil)
	exits(func() { _, _ = tr.RoundTrip(req) })
	if got := body.closed.Load(); got != 1 || bulkheadOf(tr).InFlight() != 0 {
		t.Errorf("closed %d times, %d permits out", got, bulkheadOf(tr).InFlight())
	}
}

// exits runs f, which calls runtime.Goexit, to its end.
func exits(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// opened counts bodies that are open.
type opened struct {
	io.Reader
	count *atomic.Int64
}

func (b opened) Close() error {
	b.count.Add(-1)
	return nil
}

func TestTheBodyOfACopyThatComesTooLateIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := hedged(hedge.Config{Delay: time.Second})
		target.Bulkhead = &bulkhead.Config{}
		var open atomic.Int64
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			_ = req.Body.Close()
			time.Sleep(2 * time.Second)
			return answer(req, http.StatusOK), nil
		}), target)
		req := request(t, hedge.Mark(context.Background()), http.MethodPut, "http://x.test/", http.NoBody)
		req.Body = io.NopCloser(strings.NewReader("abc"))
		req.GetBody = func() (io.ReadCloser, error) { // for the second copy, which waits for the first
			time.Sleep(time.Minute)
			open.Add(1)
			return opened{strings.NewReader("abc"), &open}, nil
		}
		_ = readAll(t, must(tr.RoundTrip(req)))
		time.Sleep(time.Hour)
		if got := open.Load(); got != 0 {
			t.Errorf("%d bodies are still open", got)
		}
	})
}

// again is a body that GetBody rewinds, as the client of Connect has it.
type again struct{ *strings.Reader }

func (again) Close() error { return nil }

// reused returns a keyed POST whose GetBody returns its one body again and again.
func reused(t *testing.T) *http.Request {
	t.Helper()
	body := again{strings.NewReader("abc")}
	req := request(t, hedge.Mark(idempotency.WithKey(context.Background(), "k")), http.MethodPost, "http://x.test/", http.NoBody)
	req.Body = body
	req.GetBody = func() (io.ReadCloser, error) {
		_, err := body.Seek(0, io.SeekStart)
		return body, err
	}
	return req
}

func TestABodyThatThereIsOnceServesOneCopyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			sent.Add(1)
			_, _ = io.Copy(io.Discard, req.Body)
			_ = req.Body.Close() // it may still rewind it
			time.Sleep(time.Second)
			return answer(req, http.StatusOK), nil
		}), hedged(hedge.Config{Delay: 10 * time.Millisecond}))
		_ = readAll(t, must(tr.RoundTrip(reused(t))))
		if got := sent.Load(); got != 1 {
			t.Errorf("%d copies were sent of one body", got)
		}
	})
}

func TestABodyThatThereIsOnceServesOneAttemptAfterTheOther(t *testing.T) {
	for name, target := range map[string]middleware.Target{
		"retries":                    retries(),
		"a copy after a failed copy": hedged(hedge.Config{Delay: time.Minute}),
	} {
		synctest.Test(t, func(t *testing.T) {
			var bodies []string
			tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(req.Body)
				_ = req.Body.Close()
				if bodies = append(bodies, string(body)); len(bodies) == 1 {
					return nil, syscall.ECONNRESET
				}
				return answer(req, http.StatusOK), nil
			}), target)
			_ = readAll(t, must(tr.RoundTrip(reused(t))))
			if !slices.Equal(bodies, []string{"abc", "abc"}) {
				t.Errorf("%s: sent %q", name, bodies)
			}
		})
	}
}
