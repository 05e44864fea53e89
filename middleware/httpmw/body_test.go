package httpmw_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/timeout"
)

func TestC1_OneConnectionIsEnoughForRetriedAnswersWithBodies(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 256<<10)
	overBoth(t, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Get("n") != "3" && req.Header.Get("X-Backstay-Attempt") != "3" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(big)
	}, func(t *testing.T, b *backend) {
		target := retries()
		target.Propagate.Hosts = []string{"*"}
		c := &http.Client{Transport: transport(t, b.base(t), target)}
		before := runtime.NumGoroutine()
		for range 30 {
			resp, err := c.Get(b.URL)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != http.StatusOK || len(readAll(t, resp)) != len(big) {
				t.Fatalf("status %d", resp.StatusCode)
			}
		}
		if got := b.requests.Load(); got != 90 {
			t.Errorf("%d requests, want 90", got)
		}
		if got := b.connections.Load(); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
		if after := runtime.NumGoroutine(); after > before+10 {
			t.Errorf("goroutines grew from %d to %d", before, after)
		}
	})
}

func TestC3_ASlowReaderGetsEveryByteUnderTimeoutAndHedge(t *testing.T) {
	const size = 512 << 10
	overBoth(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), size))
	}, func(t *testing.T, b *backend) {
		target := middleware.Standard("test")
		target.Timeout = &timeout.Config{After: 20 * time.Millisecond}
		target.Hedge = &hedge.Config{Delay: 5 * time.Millisecond}
		resp, err := (&http.Client{Transport: transport(t, b.base(t), target)}).Get(b.URL)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // past the attempt's limit
		if got := len(readAll(t, resp)); got != size {
			t.Errorf("%d bytes, want %d", got, size)
		}
	})
}

func TestC9_FramingTrailersAndEncodingSurvive(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Content-Encoding", "made-up")
		fmt.Fprintf(w, "%d %q %s", req.ContentLength, body, req.Trailer.Get("X-Request-Sum"))
		w.Header().Set("X-Sum", "42")
	}, func(t *testing.T, b *backend) {
		req := request(t, t.Context(), http.MethodPut, b.URL, io.NopCloser(strings.NewReader("abc")))
		req.Trailer = http.Header{"X-Request-Sum": {"7"}}
		resp, err := transport(t, b.base(t), middleware.Standard("test")).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, resp); got != `-1 "abc" 7` {
			t.Errorf("the server saw %s", got)
		}
		if resp.Trailer.Get("X-Sum") != "42" || resp.Header.Get("Content-Encoding") != "made-up" {
			t.Errorf("trailer %v, header %v", resp.Trailer, resp.Header)
		}
	})
}

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

func TestC11_AfterSwitchingProtocolsTheBodyReadsAndWritesWithoutLimit(t *testing.T) {
	b := serve(t, false, switching)
	req := request(t, t.Context(), http.MethodGet, b.URL, nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := transport(t, b.base(t), everything()).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status %d, body %T", resp.StatusCode, resp.Body)
	}
	r := bufio.NewReader(conn)
	for _, pause := range []time.Duration{0, 60 * time.Millisecond} {
		time.Sleep(pause) // past every limit
		fmt.Fprintln(conn, "hello")
		if line, err := r.ReadString('\n'); line != "hello\n" {
			t.Errorf("after %v: %q, %v", pause, line, err)
		}
	}
}

func TestC11_AReverseProxyCarriesASwitchedConnection(t *testing.T) {
	b := serve(t, false, switching)
	to, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport(t, b.base(t), everything()),
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
	}
	front := httptest.NewServer(proxy)
	defer front.Close()
	conn, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	time.Sleep(60 * time.Millisecond)
	fmt.Fprintln(conn, "hello")
	if line, err := r.ReadString('\n'); line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestC12_EventsOutliveTheTimeoutAndASilentStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := func(events int, gap, silence time.Duration) httpmwtest.Step {
			return httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
				pr, pw := io.Pipe()
				go func() {
					for range events {
						time.Sleep(gap)
						if _, err := io.WriteString(pw, "data: x\n\n"); err != nil {
							return
						}
					}
					time.Sleep(silence)
					_ = pw.Close()
				}()
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: pr, Request: req, ContentLength: -1}, nil
			})
		}
		target := middleware.Standard("events")
		target.Deadline = &deadline.Config{Total: deadline.NoTotal}
		target.HTTP.IdleBody = 5 * time.Second
		c := httpmwtest.Client(t, httpmwtest.Script(stream(20, time.Second, 0), stream(3, time.Second, time.Minute)), target)

		resp, err := c.Get("http://events.test/")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(readAll(t, resp), "data"); got != 20 {
			t.Errorf("%d events, want 20", got)
		}

		began := time.Now()
		resp, err = c.Get("http://events.test/")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		var idle *timeout.Error
		if !errors.As(err, &idle) || idle.After != 5*time.Second {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took != 8*time.Second || strings.Count(string(text), "data") != 3 {
			t.Errorf("%q after %v", text, took)
		}
		_ = resp.Body.Close()
		time.Sleep(2 * time.Minute) // the script's own writer ends
	})
}

func TestASlowReaderIsNotASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := only("test")
		target.HTTP.IdleBody = time.Second
		resp, err := httpmwtest.Client(t, httpmwtest.Script(httpmwtest.Status(200).Body("hello")), target).Get("http://x.test/")
		if err != nil {
			t.Fatal(err)
		}
		one := make([]byte, 1)
		for range 5 {
			time.Sleep(time.Minute)
			if _, err := resp.Body.Read(one); err != nil {
				t.Fatal(err)
			}
		}
		_ = resp.Body.Close()
	})
}

func TestC15_ClosingTwiceAndReadingAfterIsHarmless(t *testing.T) {
	b := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	target := middleware.Standard("test")
	target.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: true}
	tr := transport(t, b.base(t), target)
	for range 3 {
		resp, err := (&http.Client{Transport: tr}).Get(b.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&http.Client{Transport: tr}).Get(b.URL); !errors.Is(err, bulkhead.ErrFull) {
			t.Errorf("the permit is not held until the body ends: %v", err)
		}
		_ = resp.Body.Close()
		_ = resp.Body.Close()
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
			t.Error("a closed body reads")
		}
		for _, p := range tr.Pipelines().All {
			if got := p.Bulkhead().InFlight(); got != 0 {
				t.Errorf("%d permits in flight", got)
			}
		}
	}
}

func TestAnAnswerThatNobodySeesIsDrainedWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := httpmwtest.Client(t, httpmwtest.Script(
			httpmwtest.Status(503).Body("sorry").Stall(time.Hour),
			httpmwtest.Status(200)), retries())
		began := time.Now()
		resp, err := c.Get("http://x.test/")
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
		if took := time.Since(began); took > httpmw.DefaultDrainTime {
			t.Errorf("draining a silent body took %v", took)
		}
	})
}
