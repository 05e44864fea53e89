package httpmw_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// switching is a handler that changes to an echo protocol.
func switching(w http.ResponseWriter, _ *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
	_ = rw.Flush()
	_, _ = io.Copy(conn, rw)
}

// everything is a target with every policy, and limits so short that a
// connection which outlives them shows that they were lifted.
func everything() middleware.Target {
	target := middleware.Reads("test")
	target.Deadline = &deadline.Config{Total: 40 * time.Millisecond}
	target.Timeout = &timeout.Config{After: 20 * time.Millisecond}
	target.Hedge = &hedge.Config{Delay: time.Millisecond}
	target.Bulkhead = &bulkhead.Config{Limit: 4, HoldBody: true}
	target.HTTP.IdleBody = 10 * time.Millisecond
	return target
}

// upgrade asks for the echo protocol.
func upgrade(t *testing.T, rt http.RoundTripper, to string) io.ReadWriteCloser {
	t.Helper()
	req := request(t, context.Background(), http.MethodGet, to, nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status %d, body %T", resp.StatusCode, resp.Body)
	}
	return conn
}

// echoes says hello after each of the pauses.
func echoes(t *testing.T, conn io.ReadWriter, r *bufio.Reader, pauses ...time.Duration) {
	t.Helper()
	for _, pause := range pauses {
		time.Sleep(pause)
		fmt.Fprintln(conn, "hello")
		if line, err := r.ReadString('\n'); line != "hello\n" {
			t.Errorf("after %v: %q, %v", pause, line, err)
		}
	}
}

// Acceptance case C11.
func TestC11_AfterSwitchingProtocolsTheBodyReadsAndWritesWithoutLimit(t *testing.T) {
	t.Run("loopback", func(t *testing.T) {
		b := serve(t, false, switching)
		conn := upgrade(t, transport(t, b.base(t), patient(everything())), b.URL)
		defer conn.Close()
		echoes(t, conn, bufio.NewReader(conn), 0)
	})
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := new(network).serve(t, "x.test", false, switching)
			tr := transport(t, b.base(t), everything())
			permits := tr.Pipelines().Get("x.test", backstay.Now()).Bulkhead()
			conn := upgrade(t, tr, b.URL)
			echoes(t, conn, bufio.NewReader(conn), 0, time.Minute, time.Hour)
			if got := permits.InFlight(); got != 1 {
				t.Errorf("%d permits while the connection lives", got)
			}
			_ = conn.Close()
			_ = conn.Close()
			if got := permits.InFlight(); got != 0 {
				t.Errorf("%d permits after its end", got)
			}
		})
	})
}

// Acceptance case C11.
func TestC11_TheContextOfASwitchedConnectionEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		var ctx context.Context
		conn := upgrade(t, transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			ctx = req.Context()
			resp := answer(req, http.StatusSwitchingProtocols)
			resp.Body = near
			return resp, nil
		}), everything()), "http://x.test/")
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Errorf("%v, while the connection lives", ctx.Err())
		}
		_ = conn.Close()
		if ctx.Err() == nil {
			t.Error("the context outlives the connection")
		}
	})
}

// Acceptance case C11.
func TestC11_AReverseProxyCarriesASwitchedConnection(t *testing.T) {
	proxy := func(t *testing.T, b *backend, target middleware.Target) http.HandlerFunc {
		to := must(url.Parse(b.URL))
		return (&httputil.ReverseProxy{
			Transport: transport(t, b.base(t), target),
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		}).ServeHTTP
	}
	t.Run("loopback", func(t *testing.T) {
		front := serve(t, false, proxy(t, serve(t, false, switching), patient(everything())))
		conn := must(net.Dial("tcp", must(url.Parse(front.URL)).Host))
		defer conn.Close()
		echoes(t, conn, switched(t, conn), 0)
	})
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := new(network)
			n.serve(t, "front.test", false, proxy(t, n.serve(t, "x.test", false, switching), everything()))
			conn := must(n.dial(context.Background(), "tcp", "front.test:80"))
			defer conn.Close()
			echoes(t, conn, switched(t, conn), 0, time.Minute, time.Hour)
		})
	})
}

// switched asks for the echo protocol over conn and returns its reader.
func switched(t *testing.T, conn net.Conn) *bufio.Reader {
	t.Helper()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	return r
}

func TestTheWritingSideOfASwitchedConnectionCanBeClosedAlone(t *testing.T) {
	b := serve(t, false, switching)
	conn := upgrade(t, transport(t, b.base(t), patient(everything())), b.URL)
	defer conn.Close()
	fmt.Fprint(conn, "hello")
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		t.Fatalf("%T cannot", conn)
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(conn); err != nil || string(rest) != "hello" {
		t.Errorf("the echo of what was written before: %q, %v", rest, err)
	}
}
