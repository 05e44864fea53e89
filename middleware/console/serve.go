package console

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
)

// ServeHTTP serves the page and what it needs. The last element of the path
// decides, so a Console works below any prefix, with or without
// http.StripPrefix. A path that is empty, as http.StripPrefix leaves it where
// the slash at the end is missing, is redirected to the one with the slash.
func (c *Console) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	protect(w.Header())
	if c.watchers.gone() {
		http.Error(w, "console: closed", http.StatusServiceUnavailable)
		return
	}
	if req.URL.Path == "" {
		c.redirect(w, req)
		return
	}
	last := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
	if last == "act" {
		c.act(w, req)
		return
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "console: only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	switch last {
	case "":
		c.page(w, req)
	case "state.json":
		c.json(w, req)
	case "events":
		c.events(w, req)
	default:
		serveAsset(w, req, last)
	}
}

// policy lets the page load what is its own, and nothing else. Styles and
// scripts come from files, so that neither needs "unsafe-inline".
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// protect sets what every answer has.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// redirect adds the slash that relative addresses need. The new address is
// relative, since the prefix is not known here.
func (c *Console) redirect(w http.ResponseWriter, req *http.Request) {
	full, _, _ := strings.Cut(req.RequestURI, "?")
	w.Header().Set("Location", "./"+path.Base(full)+"/")
	w.WriteHeader(http.StatusMovedPermanently)
}

// json answers with the state.
func (c *Console) json(w http.ResponseWriter, req *http.Request) {
	q, err := parseQuery(req.URL.Query())
	if err != nil {
		http.Error(w, "console: "+err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, http.StatusOK, c.state(q, c.guard.Permits(req)))
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who is gone needs no answer
}
