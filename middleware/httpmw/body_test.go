package httpmw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// Acceptance case C3.
func TestC3_ASlowReaderGetsEveryByteUnderTimeoutAndHedge(t *testing.T) {
	const size = 512 << 10
	send := func(w http.ResponseWriter) { _, _ = w.Write(bytes.Repeat([]byte("x"), size)) }
	overBoth(t, func(w http.ResponseWriter, _ *http.Request) { send(w) }, func(t *testing.T, b *backend) {
		target := patient(middleware.Reads("test"))
		target.Hedge = &hedge.Config{Delay: time.Millisecond}
		resp, err := (&http.Client{Transport: transport(t, b.base(t), target)}).Get(b.URL)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(readAll(t, resp)); got != size {
			t.Errorf("%d bytes, want %d", got, size)
		}
	})
	inMemory(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(10 * time.Millisecond)
		send(w)
	}, func(t *testing.T, b *backend) {
		target := middleware.Standard("test")
		target.Timeout = &timeout.Config{After: 20 * time.Millisecond}
		target.Hedge = &hedge.Config{Delay: 5 * time.Millisecond}
		resp, err := (&http.Client{Transport: transport(t, b.base(t), target)}).Get(b.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got := 0
		for p := make([]byte, size/8); err == nil; {
			time.Sleep(100 * time.Millisecond) // each pause is longer than the attempt's limit
			var n int
			n, err = io.ReadFull(resp.Body, p)
			got += n
		}
		if err != io.EOF || got != size {
			t.Errorf("%d bytes, want %d; %v", got, size, err)
		}
		if n := b.requests.Load(); n != 2 {
			t.Errorf("%d copies, want 2", n)
		}
	})
}

// Acceptance case C9.
func TestC9_FramingTrailersAndEncodingSurvive(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Content-Encoding", "made-up")
		fmt.Fprintf(w, "%d %q %s", req.ContentLength, body, req.Trailer.Get("X-Request-Sum"))
		w.Header().Set("X-Sum", "42")
	}, func(t *testing.T, b *backend) {
		req := request(t, context.Background(), http.MethodPut, b.URL, io.NopCloser(strings.NewReader("abc")))
		req.Trailer = http.Header{"X-Request-Sum": {"7"}}
		resp, err := transport(t, b.base(t), patient(middleware.Standard("test"))).RoundTrip(req)
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

// Acceptance case C12.
func TestC12_EventsOutliveTheTimeoutAndASilentStreamEnds(t *testing.T) {
	inMemory(t, func(w http.ResponseWriter, req *http.Request) {
		events, silence := 20, time.Duration(0)
		if req.URL.Path == "/stalls" {
			events, silence = 3, time.Minute
		}
		for range events {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		_ = wait(req.Context(), silence)
	}, func(t *testing.T, b *backend) {
		target := middleware.Standard("events")
		target.Deadline = &deadline.Config{Total: deadline.NoTotal}
		target.HTTP.IdleBody = 5 * time.Second
		c := &http.Client{Transport: transport(t, b.base(t), target)}

		resp, err := c.Get(b.URL)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(readAll(t, resp), "data"); got != 20 {
			t.Errorf("%d events, want 20", got)
		}

		began := time.Now()
		resp, err = c.Get(b.URL + "/stalls")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		var idle *timeout.Error
		if !errors.As(err, &idle) || idle.After != 5*time.Second || idle.Name != "events" {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took != 8*time.Second || strings.Count(string(text), "data") != 3 {
			t.Errorf("%q after %v", text, took)
		}
		_ = resp.Body.Close()
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

// Acceptance case C15.
func TestC15_ClosingTwiceAndReadingAfterIsHarmless(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, func(t *testing.T, b *backend) {
		target := patient(middleware.Standard("test"))
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
	})
}

// Acceptance case C15.
func TestC15_TheBaseTransportsBodyIsClosedOnce(t *testing.T) {
	for _, preset := range presets {
		body := &counted{Reader: strings.NewReader("hello")}
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			resp := answer(req, http.StatusOK)
			resp.Body = body
			return resp, nil
		}), preset.of("test"))
		resp := must(tr.RoundTrip(request(t, context.Background(), http.MethodGet, "http://x.test/", nil)))
		readAll(t, resp)
		_ = resp.Body.Close()
		if got := body.closed.Load(); got != 1 {
			t.Errorf("%s: closed %d times", preset.name, got)
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
