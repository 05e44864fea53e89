package httpmw_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
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
)

// limited is a server whose handlers have two seconds.
func limited() middleware.Server {
	return middleware.Server{Name: "stock", Timeout: 2 * time.Second, Bulkhead: &bulkhead.Config{Limit: 1}}
}

func TestAHandlerThatIgnoresItsTimeoutIsAnsweredForOnce(t *testing.T) {
	var seen testkit.Recorder
	var refused atomic.Bool // the late write
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Length", "3")
		w.Header().Set("Etag", "1")
		time.Sleep(5 * time.Second)
		if req.Context().Err() == nil {
			t.Error("it is not told")
		}
		w.Header().Set("X-Late", "yes")
		w.WriteHeader(http.StatusTeapot)
		_, err := io.WriteString(w, "late")
		refused.Store(errors.Is(err, http.ErrHandlerTimeout))
		c := http.NewResponseController(w)
		for _, err := range []error{c.Flush(), c.SetReadDeadline(time.Now()), c.SetWriteDeadline(time.Now()), c.EnableFullDuplex()} {
			if !errors.Is(err, http.ErrHandlerTimeout) {
				t.Errorf("a late call: %v", err)
			}
		}
		if _, _, err := c.Hijack(); err == nil {
			t.Error("a late hijack")
		}
	}), limited(), httpmw.ServerObserver(&seen))
	inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		seen.Take()
		began := time.Now()
		got := ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil))
		got.problem(t, http.StatusServiceUnavailable)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		if got.header.Get("Etag") != "" || got.header.Get("Retry-After") != "" || got.header.Get("X-Backstay-Retry") != "" {
			t.Errorf("headers %v", got.header)
		}
		if n := h.Bulkhead().InFlight(); n != 1 {
			t.Errorf("%d in flight while the handler runs", n)
		}
		// The connection is free for the next request, which finds no room.
		ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil)).problem(t, http.StatusServiceUnavailable)
		time.Sleep(time.Minute)
		if !refused.Load() || h.Bulkhead().InFlight() != 0 {
			t.Errorf("the late write is refused: %v; %d in flight", refused.Load(), h.Bulkhead().InFlight())
		}
		told := seen.Events(middleware.HandlerTimedOut)
		if len(told) != 1 || told[0].Policy != "stock" {
			t.Errorf("told %v", told)
		}
	})
}

func TestAKeyedRequestThatTakesTooLongIsAskedBack(t *testing.T) {
	work := &charging{takes: 5 * time.Second}
	inMemory(t, nil, func(t *testing.T, b *backend) {
		mount(b, keyed(t, work, middleware.Server{Timeout: 2 * time.Second}))
		got := ask(t, b.base(t), post(t, b.URL, "k", "25"))
		if got.problem(t, http.StatusServiceUnavailable); got.header.Get("Retry-After") != "1" {
			t.Errorf("headers %v", got.header)
		}
		time.Sleep(time.Minute)
		if got := ask(t, b.base(t), post(t, b.URL, "k", "25")); got.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("then: %v", got)
		}
	})
}

func TestAHandlerThatIsInTimeAnswersAsWithoutATimeout(t *testing.T) {
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if got := w.Header().Get("X-Outer"); got != "1" {
			t.Errorf("the handler does not see what stands outside: %q", got)
		}
		w.Header().Del("X-Outer")
		switch req.URL.Path {
		case "/empty":
			w.Header().Set("X-Mine", "1")
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "text")
			w.Header().Set("X-Sum", "4")
		case "/hints":
			w.Header().Set("Link", "</a>")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
		}
	}), limited())
	overBoth(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Outer", "1")
		h.ServeHTTP(w, req)
	}, func(t *testing.T, b *backend) {
		for path, want := range map[string]func(reply) bool{
			"/empty":   func(r reply) bool { return r.status == 200 && r.header.Get("X-Mine") == "1" },
			"/trailer": func(r reply) bool { return r.body == "text" && r.trailer.Get("X-Sum") == "4" },
			"/hints":   func(r reply) bool { return r.status == 202 && r.header.Get("Link") == "</a>" },
		} {
			got := ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL+path, nil))
			if !want(got) || got.header.Get("X-Outer") != "" {
				t.Errorf("%s: %v", path, got)
			}
		}
	})
}

// A stream lasts longer than timeout, deadline and cap together.
func TestNoLimitCutsAnAnswerThatHasBegun(t *testing.T) {
	for _, limit := range []time.Duration{0, 2 * time.Second} {
		for _, c := range []struct {
			name  string
			begin func(w http.ResponseWriter)
		}{
			{"flushed", func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }},
			{"flushed by the old interface", func(w http.ResponseWriter) { w.(http.Flusher).Flush() }},
			{"written", func(w http.ResponseWriter) { _, _ = io.WriteString(w, "data: begin\n\n") }},
			{"only its status", func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }},
		} {
			t.Run(fmt.Sprintf("%s, timeout %v", c.name, limit), func(t *testing.T) {
				s := middleware.StandardServer("events")
				s.Timeout = limit
				h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					c.begin(w)
					for i := range 3 {
						time.Sleep(40 * time.Second)
						if err := req.Context().Err(); err != nil {
							t.Errorf("after %d: %v", i, err)
						}
						fmt.Fprintf(w, "data: %d\n\n", i)
					}
				}), s)
				inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
					got := ask(t, b.base(t), heading(t, b, "X-Backstay-Timeout-Ms", "1500"))
					if strings.Count(got.body, "data: 2") != 1 {
						t.Errorf("got %v", got)
					}
				})
			})
		}
	}
}

// Whoever asks for a connection of its own waits for as long as it likes.
func TestAnUpgradeHasNoLimits(t *testing.T) {
	s := limited()
	s.Deadline = &deadline.IncomingConfig{Cap: 3 * time.Second}
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		time.Sleep(time.Hour)
		switching(w, req)
	}), s)
	synctest.Test(t, func(t *testing.T) {
		b := new(network).serve(t, "x.test", false, h.ServeHTTP)
		conn := upgrade(t, b.base(t), b.URL)
		defer conn.Close()
		echoes(t, conn, bufio.NewReader(conn), 0, time.Hour)
	})
}

// The caller leaves in the middle of a stream whose handler does not look.
func TestAHalfAnswerIsCutAndNotCompleted(t *testing.T) {
	var refused atomic.Bool // the late write
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(time.Hour)
		_, err := io.WriteString(w, "late")
		refused.Store(errors.Is(err, http.ErrHandlerTimeout))
	}), limited())
	inMemory(t, func(w http.ResponseWriter, req *http.Request) {
		ctx, cancel := context.WithTimeout(req.Context(), time.Minute) // a limit outside
		defer cancel()
		h.ServeHTTP(w, req.WithContext(ctx))
	}, func(t *testing.T, b *backend) {
		got, err := tryAsk(b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil))
		if err == nil || got.body != "half" {
			t.Errorf("got %v, %v", got, err)
		}
		time.Sleep(2 * time.Hour)
		if !refused.Load() {
			t.Error("the late write was taken")
		}
	})
}

func TestAPanicOfAHandlerThatWasLeftIsTold(t *testing.T) {
	var seen testkit.Recorder
	h := handler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		time.Sleep(5 * time.Second)
		panic("late")
	}), limited(), httpmw.ServerObserver(&seen))
	inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		seen.Take()
		ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil)).problem(t, http.StatusServiceUnavailable)
		time.Sleep(time.Minute)
		if told := seen.Events(backstay.CallbackPanicked); len(told) != 1 || !strings.Contains(told[0].Err.Error(), "late") {
			t.Errorf("told %v", told)
		}
	})
}

// Whichever comes first, the answer or the timeout, there is one answer.
func TestTheAnswerAndItsTimeoutMayMeet(t *testing.T) {
	var whole, refused atomic.Int64
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		<-req.Context().Done()
		var beside sync.WaitGroup
		beside.Go(func() { w.Header() })
		defer beside.Wait()
		_, err := io.WriteString(w, "whole")
		if err != nil {
			refused.Add(1)
		}
	}), middleware.Server{Timeout: time.Millisecond, Deadline: &deadline.IncomingConfig{}})
	overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		rt := b.base(t)
		for range 100 {
			got := ask(t, rt, request(t, context.Background(), http.MethodGet, b.URL, nil))
			if got.status == http.StatusOK && got.body == "whole" {
				whole.Add(1)
			} else {
				got.problem(t, http.StatusServiceUnavailable)
			}
		}
	})
	if whole.Load() != 0 {
		t.Errorf("%d answers after the timeout", whole.Load())
	}
}

func TestCloseWaitsForHandlersThatWereLeft(t *testing.T) {
	h := must(httpmw.NewHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Minute) }), limited()))
	synctest.Test(t, func(t *testing.T) {
		b := new(network).serve(t, "x.test", false, h.ServeHTTP)
		ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL, nil)).problem(t, http.StatusServiceUnavailable)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 handlers") {
			t.Errorf("closing in haste: %v", err)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Whoever watches over a stream ends a write that nobody reads by a deadline,
// which must not have to wait for that write.
func TestADeadlineEndsAWriteThatNobodyReads(t *testing.T) {
	ended := make(chan error, 1)
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.AfterFunc(time.Minute, func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Now()) })
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				ended <- err
				return
			}
		}
	}), limited())
	inMemory(t, h.ServeHTTP, func(t *testing.T, b *backend) {
		resp, err := b.base(t).RoundTrip(request(t, context.Background(), http.MethodGet, b.URL, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		time.Sleep(2 * time.Minute)
		select {
		case err := <-ended:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the write ended in %v", err)
			}
		default:
			t.Error("the write goes on")
		}
	})
}
