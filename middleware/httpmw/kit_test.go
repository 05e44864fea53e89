package httpmw_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// only returns a target without any policy.
func only(name string) middleware.Target { return middleware.Target{Name: name} }

// retries returns a target with retries alone: no wait, no budget.
func retries() middleware.Target {
	t := only("test")
	t.Retry = &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}
	return t
}

// patient returns t with limits that no machine is too slow for: tests on real
// connections are about what happens, not about when.
func patient(t middleware.Target) middleware.Target {
	t.Deadline = &deadline.Config{Total: time.Hour}
	t.Timeout = &timeout.Config{After: time.Hour}
	t.HTTP.DrainTime = time.Hour
	return t
}

func transport(t *testing.T, next http.RoundTripper, target middleware.Target, options ...httpmw.Option) *httpmw.Transport {
	t.Helper()
	tr, err := httpmw.NewTransport(next, target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(context.Background()); err != nil {
			t.Errorf("closing the transport: %v", err)
		}
	})
	return tr
}

// backend is a real server, on loopback or in memory, that counts its
// connections and requests. A connection that is still in use when the test
// has ended fails the test; so requests to it are made under a context that
// lives on then, not under that of the test.
type backend struct {
	URL                         string
	connections, open, requests atomic.Int64
	client                      *http.Transport
	clients                     []*http.Transport            // clones of client that are in use
	mounted                     atomic.Pointer[http.Handler] // answers where serve was given none
}

// server returns the http.Server of b, which answers with h.
func (b *backend) server(two bool, h http.HandlerFunc) *http.Server {
	s := &http.Server{
		Protocols: new(http.Protocols),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			b.requests.Add(1)
			if h == nil {
				(*b.mounted.Load()).ServeHTTP(w, req)
				return
			}
			h(w, req)
		}),
		ConnState: func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				b.connections.Add(1)
				b.open.Add(1)
			case http.StateClosed, http.StateHijacked:
				b.open.Add(-1)
			case http.StateActive, http.StateIdle:
			}
		},
	}
	s.Protocols.SetHTTP1(!two)
	s.Protocols.SetUnencryptedHTTP2(two)
	return s
}

// serve starts a server on loopback; two says whether it speaks HTTP/2.
func serve(t *testing.T, two bool, h http.HandlerFunc) *backend {
	t.Helper()
	b := &backend{}
	s := httptest.NewUnstartedServer(nil)
	s.Config = b.server(two, h)
	s.Start()
	b.URL, b.client = s.URL, speaking(two)
	t.Cleanup(func() {
		for range 1000 { // both sides free a connection a moment after its last answer
			for _, c := range b.clients {
				c.CloseIdleConnections()
			}
			if b.open.Load() == 0 {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		b.check(t)
		s.Close()
	})
	return b
}

func (b *backend) check(t *testing.T) {
	t.Helper()
	if n := b.open.Load(); n != 0 {
		t.Errorf("%d connections to %s are still in use", n, b.URL)
	}
}

// speaking returns a transport for one protocol.
func speaking(two bool) *http.Transport {
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetHTTP1(!two)
	tr.Protocols.SetUnencryptedHTTP2(two)
	return tr
}

// base returns a transport of its own for the server, closed with the test.
func (b *backend) base(t *testing.T) *http.Transport {
	t.Helper()
	tr := b.client.Clone()
	b.clients = append(b.clients, tr)
	return tr
}

// network is a network in memory, on which net/http runs in virtual time: each
// host is a real server, reached by its name.
type network struct {
	mu      sync.Mutex
	hosts   map[string]*testkit.Pipes
	clients []*http.Transport
}

// serve starts a server under the name host. Call it within a bubble.
func (n *network) serve(t *testing.T, host string, two bool, h http.HandlerFunc) *backend {
	t.Helper()
	b := &backend{URL: "http://" + host, client: n.base(two)}
	p := testkit.NewPipes(host)
	n.mu.Lock()
	if n.hosts == nil {
		n.hosts = make(map[string]*testkit.Pipes)
	}
	n.hosts[host] = p
	n.mu.Unlock()
	s := b.server(two, h)
	go func() { _ = s.Serve(p) }()
	t.Cleanup(func() {
		synctest.Wait()
		n.closeIdle()
		for _, c := range b.clients {
			c.CloseIdleConnections()
		}
		synctest.Wait()
		b.check(t)
		_ = s.Close()
	})
	return b
}

// base returns a transport for all hosts of the network, closed with the test.
func (n *network) base(two bool) *http.Transport {
	tr := speaking(two)
	tr.DialContext = n.dial
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clients = append(n.clients, tr)
	return tr
}

func (n *network) closeIdle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.clients {
		c.CloseIdleConnections()
	}
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	p := n.hosts[host]
	n.mu.Unlock()
	if p == nil {
		return nil, testkit.ErrRefused
	}
	return p.Dial(ctx)
}

var protocols = []struct {
	name string
	two  bool
}{{"HTTP/1.1", false}, {"HTTP/2", true}}

// overBoth runs f for a server on loopback that speaks HTTP/1.1 and one that
// speaks HTTP/2.
func overBoth(t *testing.T, h http.HandlerFunc, f func(t *testing.T, b *backend)) {
	t.Helper()
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { f(t, serve(t, p.two, h)) })
	}
}

// inMemory is overBoth in virtual time, with a server in memory.
func inMemory(t *testing.T, h http.HandlerFunc, f func(t *testing.T, b *backend)) {
	t.Helper()
	for _, p := range protocols {
		t.Run(p.name+" in memory", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, new(network).serve(t, "x.test", p.two, h)) })
		})
	}
}

func request(t *testing.T, ctx context.Context, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// get sends a GET to http://x.test/ through rt. A response it returns is
// closed with the test.
func get(t *testing.T, ctx context.Context, rt http.RoundTripper) (*http.Response, error) {
	t.Helper()
	resp, err := rt.RoundTrip(request(t, ctx, http.MethodGet, "http://x.test/", nil))
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

// readAll reads and closes the body.
func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("reading the body: %v", err)
	}
	return string(text)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// roundTripper is a base transport that is a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answer returns a response without a body.
func answer(req *http.Request, status int) *http.Response {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}
