package httpmw_test

import (
	"net/http"
	"testing"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// pool is a base transport with idle connections.
type pool struct {
	failing
	closed int
}

func (p *pool) CloseIdleConnections() { p.closed++ }

func TestEachTargetMayHaveABaseTransportOfItsOwn(t *testing.T) {
	given, own := new(pool), map[string]*pool{"a": {}, "late": {}}
	set := new(targets).set(attempting("a", 2, false), attempting("plain", 2, false))
	r := must(httpmw.NewRouter(given, set, httpmw.WithBase(func(t middleware.Target, next http.RoundTripper) http.RoundTripper {
		if next != http.RoundTripper(given) {
			panic("another base transport")
		}
		if p := own[t.Name]; p != nil {
			return p
		}
		return nil // as given
	})))
	set.set(attempting("a", 3, false), attempting("plain", 2, false), attempting("late", 4, false))
	for url, want := range map[string]struct {
		base     *pool
		requests int64
	}{
		"http://a/": {own["a"], 3}, "http://late/": {own["late"], 4}, "http://plain/": {given, 2}, "http://elsewhere/": {given, 3},
	} {
		if n := attempts(t, r, &want.base.failing, http.MethodGet, url); n != want.requests {
			t.Errorf("%s: %d requests through its base transport, want %d", url, n, want.requests)
		}
	}
	r.CloseIdleConnections()
	for name, p := range map[string]*pool{"a": own["a"], "late": own["late"], "given": given} {
		if p.closed == 0 {
			t.Errorf("%s was not told to close idle connections", name)
		}
	}
}
