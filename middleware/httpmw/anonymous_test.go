package httpmw_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/middleware/httpmw"
)

func TestStaleAnswersAreNotSharedByWhatOnlyTheURLHasInCommon(t *testing.T) {
	down := false
	tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
		if down {
			return answer(req, http.StatusServiceUnavailable), nil
		}
		query := ""
		if req.Body != nil {
			query = string(must(io.ReadAll(req.Body)))
			_ = req.Body.Close()
		}
		resp := answer(req, http.StatusOK)
		resp.Header.Set("Set-Cookie", "session=1")
		resp.Body = io.NopCloser(strings.NewReader("for " + req.Host + query))
		return resp, nil
	}), only("test"), httpmw.WithStaleCache(httpmw.StaleCache{}))
	ask := func(host string, query io.Reader) *http.Response {
		req := request(t, t.Context(), http.MethodGet, "http://x.test/", query)
		req.Host = host
		return must(tr.RoundTrip(req))
	}
	readAll(t, ask("a.test", nil))
	readAll(t, ask("x.test", strings.NewReader("?q=1")))
	down = true
	for _, c := range []struct {
		name, host string
		query      io.Reader
		want       string
	}{
		{"the same", "a.test", nil, "for a.test"},
		{"another virtual host", "b.test", nil, ""},
		{"another query in the body", "x.test", strings.NewReader("?q=2"), ""},
		{"no query where there was one", "x.test", nil, ""},
	} {
		resp := ask(c.host, c.query)
		if text := readAll(t, resp); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
		if cookie := resp.Header.Get("Set-Cookie"); cookie != "" {
			t.Errorf("%s: the cookie of the first reader, %q", c.name, cookie)
		}
	}
}

func TestAFieldThatHoldsNoKeyIsNoPromise(t *testing.T) {
	for _, field := range [][]string{{""}, {`""`}, {"a", "b"}, {`"unclosed`}} {
		n := 0
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			n++
			return answer(req, http.StatusServiceUnavailable), req.Body.Close()
		}), retries())
		req := request(t, t.Context(), http.MethodPost, "http://x.test/", strings.NewReader("abc"))
		req.Header["Idempotency-Key"] = field
		readAll(t, must(tr.RoundTrip(req)))
		if n != 1 {
			t.Errorf("%q: a POST was sent %d times", field, n)
		}
	}
}
