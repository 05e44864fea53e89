// Package guard decides which requests may act on a process. Whoever shows a
// process over HTTP, and lets some people change something there, shares it.
package guard

import (
	"mime"
	"net/http"
)

// Guard lets requests act that come from a page, or a script, that was given a
// token, and from somebody who is permitted at that moment. It is safe for
// concurrent use. Make one with [New].
type Guard struct {
	// Authorize decides who may act; nil means nobody. It is set before the
	// first request, and may be called by several goroutines at once.
	Authorize func(*http.Request) bool

	words  Words
	origin http.CrossOriginProtection
	seal   seal
}

// Words are what a [Guard] says to those it refuses.
type Words struct {
	// Name begins every refusal.
	Name string
	// Header is the field with the token. A form of another site cannot set it.
	Header string
	// Off says why nobody may act, Source where a token is found, and Stale what
	// to do about one that another process made.
	Off, Source, Stale string
}

// New returns a Guard that lets nobody act yet.
func New(words Words) *Guard { return &Guard{words: words, seal: newSeal()} }

// Permits reports whether the one who asks may act.
func (g *Guard) Permits(req *http.Request) bool { return g.Authorize != nil && g.Authorize(req) }

// Token returns a token for those who may act, and "" for others.
func (g *Guard) Token(req *http.Request) string {
	if !g.Permits(req) {
		return ""
	}
	return g.seal.token()
}

// Refuse reports whether a request must not act, and has then answered it.
func (g *Guard) Refuse(w http.ResponseWriter, req *http.Request) bool {
	status, why := g.refusal(req)
	if status == 0 {
		return false
	}
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	http.Error(w, g.words.Name+": "+why, status)
	return true
}

// refusal says why a request must not act; status is 0 if it may. What is asked
// of every page comes first, so that a forged request learns nothing of who may
// act.
func (g *Guard) refusal(req *http.Request) (status int, why string) {
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	token := req.Header.Get(g.words.Header)
	switch {
	case req.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "only POST"
	case g.origin.Check(req) != nil:
		return http.StatusForbidden, "the request comes from another site"
	case kind != "application/json":
		return http.StatusUnsupportedMediaType, "only application/json"
	case g.Authorize == nil:
		return http.StatusForbidden, g.words.Off
	case !g.Authorize(req):
		return http.StatusForbidden, "you may watch, and not act"
	case token == "":
		return http.StatusForbidden, "there is no token: send " + g.words.Source + " as " + g.words.Header
	case !g.seal.made(token):
		return http.StatusForbidden, g.words.Stale
	default:
		return 0, ""
	}
}
