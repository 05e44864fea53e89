package httpmw_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
)

// price is a good answer worth keeping.
func price() httpmwtest.Step {
	return httpmwtest.Status(200).Body("25 EUR").Header("Content-Type", "text/plain").Header("Etag", `"1"`)
}

func TestAStaleAnswerIsServedWithItsAge(t *testing.T) {
	for name, failure := range map[string]httpmwtest.Step{
		"503": httpmwtest.Status(503).Body("sorry"), "429": httpmwtest.Status(429), "501": httpmwtest.Status(501),
		"reset": httpmwtest.Reset(), "black hole": httpmwtest.BlackHole(),
	} {
		synctest.Test(t, func(t *testing.T) {
			tr := transport(t, httpmwtest.Script(price(), failure), middleware.Standard("prices"), httpmw.WithStaleCache(httpmw.StaleCache{}))
			resp := must(get(t, t.Context(), tr))
			if text := readAll(t, resp); text != "25 EUR" || resp.Header.Get("Age") != "" {
				t.Fatalf("the first answer: %q, %v", text, resp.Header)
			}
			resp.Header.Set("Etag", "changed by its reader")

			for range 2 { // an answer can be served again
				time.Sleep(61 * time.Second)
				ctx, report := backstay.WithReport(t.Context())
				began := time.Now()
				resp := must(get(t, ctx, tr))
				h := resp.Header
				if text := readAll(t, resp); resp.StatusCode != 200 || text != "25 EUR" || h.Get("Etag") != `"1"` || h.Get("Content-Type") != "text/plain" {
					t.Errorf("%s: %s, %v, %q", name, resp.Status, h, text)
				}
				if resp.Request == nil || resp.ContentLength != 6 || resp.Status != "200 OK" || resp.Proto != "HTTP/1.1" {
					t.Errorf("%s: %+v", name, resp)
				}
				s := report.Summary()
				if !s.Degraded || s.Rung != "cached" || s.Cause == nil || h.Get("Age") != strconv.Itoa(int(s.Age.Seconds())) || s.Age < time.Minute {
					t.Errorf("%s: Age %q, report %+v", name, h.Get("Age"), s)
				}
				time.Sleep(10*time.Second - time.Since(began))
			}
		})
	}
}

func TestWhatIsNeverKept(t *testing.T) {
	long := strings.Repeat("x", httpmw.DefaultMaxStaleBody+1)
	unknown := httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
		resp := answer(req, http.StatusOK)
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(long)), -1
		return resp, nil
	})
	for _, c := range []struct {
		name   string
		first  httpmwtest.Step
		change func(*http.Request)
		unread bool
	}{
		{"an answer that says no-store", price().Header("Cache-Control", "no-store"), nil, false},
		{"an answer that says private", price().Header("Cache-Control", `max-age=60, Private="x-user"`), nil, false},
		{"an answer that says so in its second field", price().Header("Cache-Control", "max-age=60").Header("Cache-Control", "NO-STORE"), nil, false},
		{"an answer that depends on who knows what", price().Header("Vary", "*"), nil, false},
		{"an answer to a request with Authorization", price(), func(r *http.Request) { r.Header.Set("Authorization", "me") }, false},
		{"an answer to a request with a cookie", price(), func(r *http.Request) { r.Header.Set("Cookie", "me") }, false},
		{"a part", price(), func(r *http.Request) { r.Header.Set("Range", "bytes=0-1") }, false},
		{"an answer to POST", price(), func(r *http.Request) { r.Method = http.MethodPost }, false},
		{"an answer to HEAD", price(), func(r *http.Request) { r.Method = http.MethodHead }, false},
		{"a redirect", httpmwtest.Status(302).Body("there"), nil, false},
		{"an empty answer of 204", httpmwtest.Status(204), nil, false},
		{"a body that is too long, and says so", price().Body(long), nil, false},
		{"a body that is too long, and does not say so", unknown, nil, false},
		{"a body that nobody has read to its end", price(), nil, true},
	} {
		tr := transport(t, httpmwtest.Script(c.first, httpmwtest.Status(503).Body("sorry")), only("test"), httpmw.WithStaleCache(httpmw.StaleCache{}))
		var resp *http.Response
		for i := range 2 {
			req := request(t, t.Context(), http.MethodGet, "http://x.test/", nil)
			if c.change != nil {
				c.change(req)
			}
			resp = must(tr.RoundTrip(req))
			if c.unread && i == 0 {
				_, _ = io.CopyN(io.Discard, resp.Body, 3)
				_ = resp.Body.Close()
				continue
			}
			readAll(t, resp)
		}
		if resp.StatusCode != 503 || resp.Header.Get("Age") != "" {
			t.Errorf("%s was kept: %s, %v", c.name, resp.Status, resp.Header)
		}
	}
}

func TestAnswersAreKeptByKeyAndWithinTheConfiguredAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := only("test")
		target.Fallback = &fallback.Config{Cache: fallback.CacheConfig{MaxAge: time.Minute}}
		down := false
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			if down {
				return answer(req, http.StatusServiceUnavailable), nil
			}
			resp := answer(req, http.StatusOK)
			resp.Body = io.NopCloser(strings.NewReader("for " + req.Header.Get("X-Tenant")))
			return resp, nil
		}), target, httpmw.WithStaleCache(httpmw.StaleCache{
			Key: func(req *http.Request) string { return req.Header.Get("X-Tenant") + req.URL.String() },
		}))
		ask := func(tenant string) string {
			req := request(t, t.Context(), http.MethodGet, "http://x.test/", nil)
			req.Header.Set("X-Tenant", tenant)
			return readAll(t, must(tr.RoundTrip(req)))
		}
		ask("a")
		ask("b")
		down = true
		if a, b, c := ask("a"), ask("b"), ask("c"); a != "for a" || b != "for b" || c != "" {
			t.Errorf("%q, %q, %q", a, b, c)
		}
		time.Sleep(time.Minute + 1)
		if a := ask("a"); a != "" {
			t.Errorf("served %q, which is too old", a)
		}
	})
}

func TestAStaleAnswerFitsTheHeadersThatItDependsOn(t *testing.T) {
	backend := httpmwtest.Script(price().Header("Vary", "accept-language, Accept-Encoding").Header("Age", "100"), httpmwtest.Status(503).Body("sorry"))
	tr := transport(t, backend, only("test"), httpmw.WithStaleCache(httpmw.StaleCache{}))
	for i, c := range []struct{ language, want string }{{"de", "25 EUR"}, {"de", "25 EUR"}, {"fr", "sorry"}, {"", "sorry"}, {"de", "25 EUR"}} {
		req := request(t, t.Context(), http.MethodGet, "http://x.test/", nil)
		if c.language != "" {
			req.Header.Set("Accept-Language", c.language)
		}
		resp := must(tr.RoundTrip(req))
		if text := readAll(t, resp); text != c.want {
			t.Errorf("call %d in %q: %q", i, c.language, text)
		}
		if c.want == "25 EUR" && resp.Header.Get("Age") != "100" { // it was as old when it came
			t.Errorf("age %s", resp.Header.Get("Age"))
		}
	}
}

func TestARefreshReplacesTheStaleAnswerOnceTheBackendIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := httpmwtest.Script(price(), httpmwtest.Reset(), httpmwtest.Status(200).Body("26 EUR").After(time.Second), httpmwtest.Reset())
		tr := transport(t, backend, only("test"), httpmw.WithStaleCache(httpmw.StaleCache{Refresh: true}))
		ctx, cancel := context.WithCancel(t.Context())
		readAll(t, must(get(t, ctx, tr)))
		time.Sleep(5 * time.Second)
		if text := readAll(t, must(get(t, ctx, tr))); text != "25 EUR" {
			t.Errorf("served %q while the backend is down", text)
		}
		cancel() // the refresh is not the caller's
		time.Sleep(3 * time.Second)
		backend.Want(t, 3)
		resp := must(get(t, t.Context(), tr))
		if text := readAll(t, resp); text != "26 EUR" || resp.Header.Get("Age") != "2" {
			t.Errorf("served %q of age %s after the refresh", text, resp.Header.Get("Age"))
		}
	})
}

func TestClosingEndsARefreshAndWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		backend := httpmwtest.Script(price(), httpmwtest.Reset(), httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			time.Sleep(time.Second)
			ended = true
			return nil, req.Context().Err()
		}))
		tr := transport(t, backend, only("test"), httpmw.WithStaleCache(httpmw.StaleCache{Refresh: true}))
		readAll(t, must(get(t, t.Context(), tr)))
		readAll(t, must(get(t, t.Context(), tr)))
		synctest.Wait() // the refresh is under way
		began := time.Now()
		if err := tr.Close(t.Context()); err != nil || !ended || time.Since(began) != time.Second {
			t.Errorf("closed after %v, the refresh ended: %v; %v", time.Since(began), ended, err)
		}
		backend.Want(t, 3)
	})
}

func TestAnOpenBreakerIsAnsweredForToo(t *testing.T) {
	tr := transport(t, httpmwtest.Script(price()), middleware.Standard("test"), httpmw.WithStaleCache(httpmw.StaleCache{}))
	readAll(t, must(get(t, t.Context(), tr)))
	breakerOf(tr).ForceOpen()
	if text := readAll(t, must(get(t, t.Context(), tr))); text != "25 EUR" {
		t.Errorf("served %q while the breaker is open", text)
	}
}
