package httpmw_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// stacks are Handlers with all that there is: one whose handlers run on the
// serving goroutine, one whose handlers may be left behind.
func stacks(t *testing.T, next http.Handler) map[string]http.Handler {
	t.Helper()
	all := make(map[string]http.Handler)
	for name, limit := range map[string]time.Duration{"without a timeout": 0, "with a timeout": 10 * time.Second} {
		s := middleware.StandardServer("test")
		s.Timeout, s.Idempotency = limit, &idempotency.GuardConfig{}
		all[name] = keyed(t, next, s)
	}
	return all
}

// behindBoth runs f for every stack in front of next, over both protocols.
func behindBoth(t *testing.T, next http.HandlerFunc, f func(t *testing.T, b *backend, two bool)) {
	t.Helper()
	for name, h := range stacks(t, next) {
		t.Run(name, func(t *testing.T) {
			overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) { f(t, b, b.client.Protocols.UnencryptedHTTP2()) })
		})
	}
}

func TestPatternsOfAServeMuxWorkOnBothSidesOfAHandler(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintf(w, "%s %s", req.PathValue("id"), req.Pattern)
	})
	for name, h := range stacks(t, mux) {
		t.Run(name, func(t *testing.T) {
			var outside string
			overBoth(t, func(w http.ResponseWriter, req *http.Request) {
				h.ServeHTTP(w, req)
				outside = req.Pattern
			}, func(t *testing.T, b *backend) {
				got := ask(t, b.base(t), request(t, context.Background(), http.MethodGet, b.URL+"/users/7", nil))
				if got.body != "7 GET /users/{id}" || outside != "GET /users/{id}" {
					t.Errorf("got %q; outside %q", got.body, outside)
				}
				if got := ask(t, b.base(t), post(t, b.URL+"/users/7", "", "x")); got.status != http.StatusMethodNotAllowed {
					t.Errorf("another method: %d", got.status)
				}
			})
		})
	}
	t.Run("a handler within the mux", func(t *testing.T) {
		inner := http.NewServeMux()
		inner.Handle("POST /users/{id}", keyed(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			fmt.Fprintf(w, "%s %s", req.PathValue("id"), req.Pattern)
		}), middleware.Server{}))
		overBoth(t, inner.ServeHTTP, func(t *testing.T, b *backend) {
			if got := ask(t, b.base(t), post(t, b.URL+"/users/7", "k", "x")); got.body != "7 POST /users/{id}" {
				t.Errorf("got %v", got)
			}
		})
	})
}

func TestAWebSocketLivesBehindAHandlerAndAProxy(t *testing.T) {
	for name, h := range stacks(t, http.HandlerFunc(switching)) {
		t.Run(name, func(t *testing.T) {
			b := serve(t, false, h.ServeHTTP)
			to := must(url.Parse(b.URL))
			proxy := &httputil.ReverseProxy{
				Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
				Transport: b.base(t),
			}
			for name, front := range stacks(t, proxy) {
				t.Run("a proxy "+name, func(t *testing.T) {
					p := serve(t, false, front.ServeHTTP)
					conn := upgrade(t, p.base(t), p.URL)
					defer conn.Close()
					echoes(t, conn, bufio.NewReader(conn), 0)
				})
			}
		})
	}
}

func TestWhatNetHTTPOffersHandlersWorks(t *testing.T) {
	behindBoth(t, func(w http.ResponseWriter, req *http.Request) {
		c := http.NewResponseController(w)
		switch req.URL.Path {
		case "/deadlines":
			for _, err := range []error{c.SetReadDeadline(time.Now().Add(time.Hour)), c.SetWriteDeadline(time.Now().Add(time.Hour))} {
				if err != nil {
					t.Error(err)
				}
			}
		case "/duplex":
			if err := c.EnableFullDuplex(); err != nil && req.ProtoMajor == 1 {
				t.Error(err)
			}
			_, _ = io.WriteString(w, "first ")
			_ = c.Flush()
			_, _ = io.Copy(w, req.Body)
		case "/hijack":
			conn, _, err := c.Hijack()
			if err == nil {
				_ = conn.Close()
			}
			if (err == nil) != (req.ProtoMajor == 1) {
				t.Errorf("HTTP/%d: %v", req.ProtoMajor, err)
			}
		case "/limited":
			_, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 10))
			if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); !ok || tooLarge.Limit != 10 {
				t.Errorf("read: %v", err)
			}
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		case "/copy":
			n, err := io.Copy(w, onlyReader{strings.NewReader(strings.Repeat("x", 100_000))})
			gone := req.Method == http.MethodHead && req.Context().Err() != nil // it has its headers, and waits for no body
			if (n != 100_000 || err != nil) && !gone {
				t.Errorf("copied %d, %v", n, err)
			}
		case "/short":
			if n, err := io.Copy(w, onlyReader{strings.NewReader("short")}); n != 5 || err != nil {
				t.Errorf("copied %d, %v", n, err)
			}
		case "/file":
			http.ServeContent(w, req, "a.txt", time.Time{}, strings.NewReader("0123456789"))
		case "/trailers":
			_, _ = io.Copy(io.Discard, req.Body)
			w.Header().Set(http.TrailerPrefix+"X-Sum", req.Trailer.Get("X-Sum"))
		}
	}, func(t *testing.T, b *backend, two bool) {
		rt := b.base(t)
		if got := ask(t, rt, request(t, context.Background(), http.MethodGet, b.URL+"/deadlines", nil)); got.status != 200 {
			t.Errorf("deadlines: %v", got)
		}
		if got := ask(t, rt, post(t, b.URL+"/duplex", "", "second")); got.body != "first second" {
			t.Errorf("duplex: %v", got)
		}
		if got := ask(t, rt, post(t, b.URL+"/limited", "", strings.Repeat("x", 11))); got.status != 413 {
			t.Errorf("limited: %v", got)
		}
		for path, want := range map[string]int{"/copy": 100_000, "/short": 5, "/file": 10} {
			if got := ask(t, rt, request(t, context.Background(), http.MethodGet, b.URL+path, nil)); len(got.body) != want {
				t.Errorf("%s: %d bytes", path, len(got.body))
			}
			got := ask(t, rt, request(t, context.Background(), http.MethodHead, b.URL+path, nil))
			if got.status != 200 || got.body != "" {
				t.Errorf("HEAD %s: %v", path, got)
			}
		}
		part := request(t, context.Background(), http.MethodGet, b.URL+"/file", nil)
		part.Header.Set("Range", "bytes=2-4")
		if got := ask(t, rt, part); got.status != http.StatusPartialContent || got.body != "234" {
			t.Errorf("a range: %v", got)
		}
		req := request(t, context.Background(), http.MethodPost, b.URL+"/trailers", onlyReader{strings.NewReader("x")})
		req.Trailer = http.Header{"X-Sum": {"9"}}
		if got := ask(t, rt, req); got.trailer.Get("X-Sum") != "9" {
			t.Errorf("trailers: %v", got)
		}
		_, err := tryAsk(rt, request(t, context.Background(), http.MethodGet, b.URL+"/hijack", nil))
		if (err == nil) != two {
			t.Errorf("hijack: %v", err)
		}
	})
}

type onlyReader struct{ io.Reader }

func TestEarlyHintsReachTheClient(t *testing.T) {
	behindBoth(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "page")
	}, func(t *testing.T, b *backend, _ bool) {
		var hints []int
		ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
				if h.Get("Link") != "" {
					hints = append(hints, code)
				}
				return nil
			},
		})
		got := ask(t, b.base(t), request(t, ctx, http.MethodGet, b.URL, nil))
		if len(hints) != 1 || hints[0] != http.StatusEarlyHints || got.body != "page" {
			t.Errorf("hints %v, %v", hints, got)
		}
	})
}

// A body that nobody wants is not asked for.
func TestExpectContinueIsAnsweredWhenTheBodyIsRead(t *testing.T) {
	behindBoth(t, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Want") == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.Copy(w, req.Body)
	}, func(t *testing.T, b *backend, _ bool) {
		rt := b.base(t)
		rt.ExpectContinueTimeout = time.Hour
		for _, c := range []struct {
			name, want, key, left string
			status                int
		}{
			{"wanted", "1", "", "", 200},
			{"wanted for a key", "1", idempotency.NewKey(), "", 200},
			{"not wanted", "", "", "", 403},
			{"refused", "1", "", "0", 504},
		} {
			req := post(t, b.URL, c.key, "body")
			req.Header.Set("Expect", "100-continue")
			req.Header.Set("X-Want", c.want)
			if c.left != "" {
				req.Header.Set("X-Backstay-Timeout-Ms", c.left)
			}
			if got := ask(t, rt, req); got.status != c.status || c.status == 200 && got.body != "body" {
				t.Errorf("%s: %v", c.name, got)
			}
		}
	})
}

// net/http removes the files of forms, if it finds them.
func TestTheFilesOfAFormAreRemoved(t *testing.T) {
	files := make(chan string, 1)
	behindBoth(t, func(_ http.ResponseWriter, req *http.Request) {
		if err := req.ParseMultipartForm(1); err != nil {
			t.Error(err)
			return
		}
		f, err := req.MultipartForm.File["f"][0].Open()
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		files <- f.(*os.File).Name()
	}, func(t *testing.T, b *backend, _ bool) {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part := must(w.CreateFormFile("f", "f"))
		_, _ = part.Write(make([]byte, 11<<20))
		_ = w.Close()
		req := request(t, context.Background(), http.MethodPost, b.URL, &form)
		req.Header.Set("Content-Type", w.FormDataContentType())
		ask(t, b.base(t), req)
		name := <-files
		for range 1000 { // the server removes it after it has answered
			if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Errorf("%s is still there", name)
	})
}

func TestNoNextHandlerIsTheDefaultOneAsOfAnHTTPServer(t *testing.T) {
	w := httptest.NewRecorder()
	handler(t, nil, middleware.Server{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/nobody/is/here", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("got %d, want what http.DefaultServeMux answers", w.Code)
	}
}
