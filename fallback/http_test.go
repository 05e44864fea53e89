package fallback_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

// These tests show that Cache serves a protocol whose answers stream: the copy
// of an HTTP response is complete only once its body has been read.

// page is the stored copy of a response.
type page struct {
	status int
	header http.Header
	body   []byte
}

// pages keeps the GET responses of up to limit bytes.
func pages(limit int, refresh backstay.Call[*http.Request, *http.Response]) fallback.Rung[*http.Request, *http.Response] {
	return fallback.Cache[*http.Request, *http.Response, *page]{
		Key: func(_ context.Context, q *http.Request) string {
			if q.Method != http.MethodGet {
				return ""
			}
			return q.URL.String()
		},
		Save: func(_ context.Context, _ *http.Request, r *http.Response, keep func(*page)) *http.Response {
			r.Body = &copying{ReadCloser: r.Body, limit: limit, whole: func(body []byte) {
				keep(&page{r.StatusCode, r.Header.Clone(), body})
			}}
			return r
		},
		Load: func(_ context.Context, q *http.Request, p *page, age time.Duration) (*http.Response, error) {
			r := &http.Response{StatusCode: p.status, Header: p.header.Clone(), Request: q, Body: io.NopCloser(bytes.NewReader(p.body))}
			r.Header.Set("Age", strconv.Itoa(int(age.Seconds())))
			return r, nil
		},
		Refresh: refresh,
	}.Rung()
}

// copying is a body that is copied while it is read.
type copying struct {
	io.ReadCloser
	limit int
	buf   []byte
	whole func([]byte) // called once the whole body has been read
}

func (c *copying) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.whole == nil {
		return n, err
	}
	if c.buf = append(c.buf, p[:n]...); len(c.buf) > c.limit || (err != nil && err != io.EOF) {
		c.whole, c.buf = nil, nil
	} else if err == io.EOF {
		c.whole(c.buf)
		c.whole = nil
	}
	return n, err
}

type http1 struct{}

func (http1) Repeat(*http.Request, backstay.Outcome) error              { return nil }
func (http1) Fork(q *http.Request, _ int) (*http.Request, error)        { return q.Clone(q.Context()), nil }
func (http1) Bind(r *http.Response, _ backstay.Canceler) *http.Response { return r }
func (http1) Discard(r *http.Response) {
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
}
func (http1) Classify(r *http.Response, err error) backstay.Outcome {
	if err != nil || r.StatusCode >= http.StatusInternalServerError {
		return backstay.Outcome{Class: backstay.Transient}
	}
	return backstay.Outcome{}
}

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func get(t *testing.T, l *fallback.Ladder[*http.Request, *http.Response], live *http.Response) (*http.Response, error) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://prices.example/apple", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return fallback.Run(t.Context(), l, http1{}, q, func(context.Context, *http.Request) (*http.Response, error) {
		if live == nil {
			return nil, errors.New("connection reset")
		}
		return live, nil
	})
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAStreamedAnswerIsKeptOnceItHasBeenRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := must(t, fallback.Config{}, fallback.Rungs(pages(10, nil)))
		live, _ := get(t, l, response(http.StatusOK, "120 cents"))
		if _, err := get(t, l, nil); err == nil {
			t.Error("served before it was read")
		}
		time.Sleep(2 * time.Second)
		if got := read(t, live); got != "120 cents" {
			t.Errorf("the caller read %q", got)
		}
		time.Sleep(time.Second)
		for range 2 { // a copy can be served any number of times
			r, err := get(t, l, response(http.StatusServiceUnavailable, "busy"))
			if err != nil || r.StatusCode != http.StatusOK || r.Header.Get("Age") != "3" || read(t, r) != "120 cents" {
				t.Errorf("got %v, %v", r, err)
			}
		}
	})
}

func TestAnAnswerThatIsTooLargeIsNotKept(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(pages(3, nil)))
	live, _ := get(t, l, response(http.StatusOK, "120 cents"))
	if read(t, live) != "120 cents" {
		t.Error("the caller did not read all")
	}
	if r, err := get(t, l, nil); err == nil {
		t.Errorf("got %v", r)
	}
}

func TestALateCopyDoesNotReplaceANewerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := must(t, fallback.Config{}, fallback.Rungs(pages(100, nil)))
		older, _ := get(t, l, response(http.StatusOK, "older"))
		time.Sleep(time.Second)
		newer, _ := get(t, l, response(http.StatusOK, "newer"))
		read(t, newer)
		read(t, older)
		if r, err := get(t, l, nil); err != nil || read(t, r) != "newer" {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

func TestARefreshReadsAStreamedAnswerToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := must(t, fallback.Config{}, fallback.Rungs(pages(100, func(context.Context, *http.Request) (*http.Response, error) {
			return response(http.StatusOK, "refreshed"), nil
		})))
		live, _ := get(t, l, response(http.StatusOK, "first"))
		read(t, live)
		for _, want := range []string{"first", "refreshed"} {
			r, err := get(t, l, nil)
			if err != nil || read(t, r) != want {
				t.Errorf("got %v, %v, want %s", r, err, want)
			}
			synctest.Wait()
		}
	})
}
