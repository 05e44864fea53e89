package guard_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/internal/guard"
)

var words = guard.Words{Name: "test", Header: "X-Token", Off: "it is off", Source: "the one of the page", Stale: "reload the page"}

func guarded(authorize func(*http.Request) bool) *guard.Guard {
	g := guard.New(words)
	g.Authorize = authorize
	return g
}

func anybody(*http.Request) bool { return true }

// forged is a request as a page makes it.
func forged(token string) *http.Request {
	req := httptest.NewRequest(http.MethodPost, "http://guard.test/act", http.NoBody)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("X-Token", token)
	return req
}

func TestARequestIsRefusedUnlessAllIsInOrder(t *testing.T) {
	g := guarded(anybody)
	off, strict := guarded(nil), guarded(func(req *http.Request) bool { return req.Header.Get("User") == "root" })
	token := g.Token(forged(""))
	for _, row := range []struct {
		name   string
		g      *guard.Guard
		change func(*http.Request)
		status int
		says   string
	}{
		{"in order", g, func(*http.Request) {}, 0, ""},
		{"from a script", g, func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }, 0, ""},
		{"with parameters", g, func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=utf-8") }, 0, ""},
		{"read", g, func(r *http.Request) { r.Method = http.MethodGet }, 405, "test: only POST"},
		{"from another site", g, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, "test: the request comes from another site"},
		{"a form", g, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "test: only application/json"},
		{"off", off, func(*http.Request) {}, 403, "test: it is off"},
		{"not permitted", strict, func(*http.Request) {}, 403, "test: you may watch, and not act"},
		{"without a token", g, func(r *http.Request) { r.Header.Del("X-Token") }, 403, "test: there is no token: send the one of the page as X-Token"},
		{"a guess", g, func(r *http.Request) { r.Header.Set("X-Token", "guess") }, 403, "test: reload the page"},
		{"of another process", guarded(anybody), func(*http.Request) {}, 403, "test: reload the page"},
		{"changed", g, func(r *http.Request) { r.Header.Set("X-Token", token[:len(token)-4]+"AAAA") }, 403, "test: reload the page"},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, w := forged(token), httptest.NewRecorder()
			row.change(req)
			refused := row.g.Refuse(w, req)
			switch {
			case row.status == 0 && refused:
				t.Errorf("refused: %d %s", w.Code, w.Body)
			case row.status != 0 && (!refused || w.Code != row.status || strings.TrimSpace(w.Body.String()) != row.says):
				t.Errorf("refused %v, %d %s", refused, w.Code, w.Body)
			}
			if got := w.Header().Get("Allow"); (got == http.MethodPost) != (row.status == 405) {
				t.Errorf("Allow: %q", got)
			}
		})
	}
}

func TestATokenIsForThoseWhoMayAct(t *testing.T) {
	if guarded(nil).Token(forged("")) != "" || guarded(func(*http.Request) bool { return false }).Token(forged("")) != "" {
		t.Error("somebody got a token who must not act")
	}
	g := guarded(anybody)
	if a, b := g.Token(forged("")), g.Token(forged("")); a == "" || a == b {
		t.Errorf("two pages have the tokens %q and %q", a, b)
	}
}
