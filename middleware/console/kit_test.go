package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

var errDown = errors.New("down")

func made(t *testing.T, config console.Config, options ...console.Option) *console.Console {
	t.Helper()
	c, err := console.New(config, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// shown makes a registry of target that c shows and hears of.
func shown(t *testing.T, c *console.Console, target middleware.Target, keys ...string) *middleware.Registry {
	t.Helper()
	r, err := middleware.NewRegistry(target, middleware.WithObserver(c.Observer()))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(target.Name, r); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		r.Get(key, backstay.Now())
	}
	return r
}

// touchy opens after two failures, for an hour.
func touchy(name string) middleware.Target {
	return middleware.Target{Name: name, Config: middleware.Config{
		Breaker: &breaker.Config{Consecutive: 2, OpenFor: time.Hour, MaxOpenFor: time.Hour},
	}}
}

// call makes a call to key that takes d and ends in err.
func call(r *middleware.Registry, key string, d time.Duration, err error) error {
	_, got := middleware.Do(context.Background(), r.Get(key, backstay.Now()), func(context.Context) (int, error) {
		time.Sleep(d)
		return 0, err
	})
	return got
}

// get asks h for target, without a network.
func get(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

// state returns what c says to query.
func state(t *testing.T, c http.Handler, query string) (s console.State) {
	t.Helper()
	w := get(c, "/state.json?"+query)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Fatalf("state.json?%s: %d %s", query, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// names returns the rows' names and keys.
func names(s console.State) (all []string) {
	for _, r := range s.Rows {
		all = append(all, strings.TrimSpace(r.Name+" "+r.Key))
	}
	return all
}

// pipes is a network without machines, in which time may be virtual.
type pipes struct {
	ends chan net.Conn
	once sync.Once
	done chan struct{}
}

func newPipes() *pipes { return &pipes{ends: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case end := <-p.ends:
		return end, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.ends <- there
	return here
}

// served serves h over pipes until the test ends.
func served(t *testing.T, h http.Handler) *pipes {
	t.Helper()
	p := newPipes()
	server := &http.Server{Handler: h, WriteTimeout: 3 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(p) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return p
}

// watcher is one who watches a stream.
type watcher struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
	answer *http.Response
}

// watch asks for the stream, and reads the head of the answer.
func (p *pipes) watch(t *testing.T, query string) *watcher {
	t.Helper()
	w := &watcher{t: t, conn: p.dial()}
	t.Cleanup(func() { _ = w.conn.Close() })
	w.reader = bufio.NewReader(w.conn)
	if _, err := w.conn.Write([]byte("GET /events?" + query + " HTTP/1.1\r\nHost: console\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.answer, err = http.ReadResponse(w.reader, nil); err != nil {
		t.Fatal(err)
	}
	w.reader = bufio.NewReader(w.answer.Body)
	return w
}

// next reads an event.
func (w *watcher) next() (s console.State, err error) {
	w.t.Helper()
	line, err := w.reader.ReadString('\n')
	if err != nil {
		return s, err
	}
	text, ok := strings.CutPrefix(line, "data: ")
	if end, _ := w.reader.ReadString('\n'); !ok || end != "\n" {
		w.t.Fatalf("no event: %q, then %q", line, end)
	}
	return s, json.Unmarshal([]byte(text), &s)
}
