package httpmw_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/timeout"
)

// dying is an HTTP/1.1 server that closes its first connection after the second
// request, without an answer, as a server does that is being restarted.
func dying(t *testing.T, n int, conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for served := 0; ; served++ {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		text, err := io.ReadAll(req.Body)
		if err != nil || string(text) != "25 EUR" {
			t.Errorf("connection %d, request %d: %q, %v", n, served+1, text, err)
		}
		if n == 1 && served == 1 {
			return
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", n)
	}
}

func TestNetHTTPsOwnRepetitionOnADeadConnectionHasTheWholeBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		base := speaking(false)
		base.DialContext = func(context.Context, string, string) (net.Conn, error) {
			connections++
			near, far := net.Pipe()
			go dying(t, connections, far)
			return near, nil
		}
		defer base.CloseIdleConnections()
		ctx, report := backstay.WithReport(withKey(context.Background()))
		tr := transport(t, base, retries())
		for _, want := range []string{"1", "2"} {
			var open atomic.Int64
			req := request(t, ctx, http.MethodPost, "http://x.test/", strings.NewReader("25 EUR"))
			req.GetBody = func() (io.ReadCloser, error) {
				open.Add(1)
				return closing{strings.NewReader("25 EUR"), func() { open.Add(-1) }}, nil
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if got := readAll(t, resp); got != want {
				t.Errorf("answered by connection %s, want %s", got, want)
			}
			synctest.Wait()
			if n := open.Load(); n != 0 {
				t.Errorf("%d bodies of GetBody are still open", n)
			}
		}
		if s := report.Summary(); s.Attempts != 1 {
			t.Errorf("report %v", report)
		}
	})
}

// closing is a body that tells of its closing.
type closing struct {
	io.Reader
	closed func()
}

func (c closing) Close() error {
	c.closed()
	return nil
}

func TestAGetBodyThatFailsEndsTheCallWithBothErrors(t *testing.T) {
	gone := errors.New("the file is gone")
	backend := httpmwtest.Script(httpmwtest.Fail(io.ErrUnexpectedEOF))
	ctx, report := backstay.WithReport(context.Background())
	body := &counted{Reader: strings.NewReader("abc")}
	req := request(t, ctx, http.MethodPut, "http://x.test/", body)
	req.GetBody = func() (io.ReadCloser, error) { return nil, gone }
	_, err := transport(t, backend, retries()).RoundTrip(req)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, gone) || !strings.Contains(err.Error(), "GetBody") {
		t.Error(err)
	}
	if s := report.Summary(); s.Attempts != 1 || s.Reason != backstay.ReasonNotRepeatable || body.closed.Load() != 1 {
		t.Errorf("%v; the body was closed %d times", report, body.closed.Load())
	}
	backend.Want(t, 1)
}

func TestTheNextAttemptWaitsForABodyThatTheTransportReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []time.Time
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			sent = append(sent, time.Now())
			_ = req.Body.Close()
			if len(sent) > 1 {
				return answer(req, http.StatusOK), nil
			}
			again := must(req.GetBody()) // as net/http does for a connection that was dead
			time.AfterFunc(100*time.Millisecond, func() { _ = again.Close() })
			return nil, io.ErrUnexpectedEOF
		}), retries())
		if _, err := tr.RoundTrip(request(t, context.Background(), http.MethodPut, "http://x.test/", strings.NewReader("abc"))); err != nil {
			t.Fatal(err)
		}
		if got := sent[1].Sub(sent[0]); got != 100*time.Millisecond {
			t.Errorf("the second attempt came after %v", got)
		}
	})
}

func TestATransportThatKeepsTheBodyGetsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		tr := transport(t, roundTripper(func(*http.Request) (*http.Response, error) {
			n++
			return nil, io.ErrUnexpectedEOF // the body is neither read nor closed
		}), retries())
		body := &counted{Reader: strings.NewReader("abc")}
		began := time.Now()
		_, err := tr.RoundTrip(request(t, context.Background(), http.MethodPut, "http://x.test/", body))
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "still holds") || n != 1 {
			t.Errorf("%v after %d attempts", err, n)
		}
		if time.Since(began) != time.Second || body.closed.Load() != 1 {
			t.Errorf("took %v; the body was closed %d times", time.Since(began), body.closed.Load())
		}
	})
}

func TestAnErrorAfterTheEndOfTheContextTellsOfBoth(t *testing.T) {
	why := errors.New("user pressed stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	tr := transport(t, roundTripper(func(*http.Request) (*http.Response, error) {
		cancel(why)
		return nil, http.ErrBodyReadAfterClose
	}), retries())
	if _, err := get(t, ctx, tr); !errors.Is(err, context.Canceled) || !errors.Is(err, why) || !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("%v", err)
	}
}

func TestAConnectionThatSwitchedTooLateIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		target := only("test")
		target.Timeout = &timeout.Config{After: time.Second}
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute) // whatever its context says
			resp := answer(req, http.StatusSwitchingProtocols)
			resp.Body = near
			return resp, nil
		}), target)
		if _, err := get(t, context.Background(), tr); !errors.Is(err, timeout.ErrTimeout) {
			t.Errorf("%v", err)
		}
		if _, err := near.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the connection is still open: %v", err)
		}
	})
}

func TestHalfOfASwitchedConnectionCanBeClosed(t *testing.T) {
	for _, able := range []bool{true, false} {
		half := &halved{}
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			resp := answer(req, http.StatusSwitchingProtocols)
			if resp.Body = half; !able {
				resp.Body = struct{ io.ReadWriteCloser }{half}
			}
			return resp, nil
		}), everything())
		req := request(t, context.Background(), http.MethodGet, "http://x.test/", nil)
		req.Header.Set("Upgrade", "echo")
		resp := must(tr.RoundTrip(req))
		err := resp.Body.(interface{ CloseWrite() error }).CloseWrite()
		if able && (err != nil || !half.closed) || !able && !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("able %v: %v, %v", able, err, half.closed)
		}
		_ = resp.Body.Close()
	}
}

// halved is a connection of which the writing half can be closed alone.
type halved struct{ closed bool }

func (*halved) Read([]byte) (int, error)    { return 0, io.EOF }
func (*halved) Write(p []byte) (int, error) { return len(p), nil }
func (*halved) Close() error                { return nil }

func (h *halved) CloseWrite() error {
	h.closed = true
	return nil
}
