package httpmw_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
)

// only returns a target without any policy.
func only(name string) middleware.Target { return middleware.Target{Name: name} }

// retries returns a target with retries alone: no wait, no budget.
func retries() middleware.Target {
	t := only("test")
	t.Retry = &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}
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

// backend is a real server that counts its connections and requests.
type backend struct {
	*httptest.Server
	connections, requests atomic.Int64
}

// serve starts a real server; two says whether it speaks HTTP/2.
func serve(t *testing.T, two bool, h http.HandlerFunc) *backend {
	t.Helper()
	b := &backend{}
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		b.requests.Add(1)
		h(w, req)
	}))
	b.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			b.connections.Add(1)
		}
	}
	if two {
		b.EnableHTTP2 = true
		b.StartTLS()
	} else {
		b.Start()
	}
	t.Cleanup(b.Close)
	return b
}

// base returns a transport of its own for the server, closed with the test.
func (b *backend) base(t *testing.T) *http.Transport {
	t.Helper()
	tr := b.Client().Transport.(*http.Transport).Clone()
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// overBoth runs f for a server that speaks HTTP/1.1 and one that speaks HTTP/2.
func overBoth(t *testing.T, h http.HandlerFunc, f func(t *testing.T, b *backend)) {
	t.Helper()
	for name, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) { f(t, serve(t, two, h)) })
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
