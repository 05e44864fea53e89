package console_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/middleware/console"
)

func TestEveryAnswerIsProtected(t *testing.T) {
	c := made(t, console.Config{})
	for _, path := range []string{"/", "/state.json", "/console.css", "/main.js", "/icon.svg", "/nothing", "/act", "/events?page=0"} {
		h := get(c, path).Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: %q", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Type") == "" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestThePageLoadsNothingFromElsewhereAndNothingInline(t *testing.T) {
	w := get(made(t, console.Config{Title: "Shop <1>"}), "/")
	body := w.Body.String()
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" || !strings.Contains(body, "<title>Shop &lt;1&gt;</title>") {
		t.Errorf("%d %v\n%s", w.Code, w.Header(), body)
	}
	for _, bad := range []string{"http://", "https://", "//", "<style", " style=", "onclick", "javascript:"} {
		if strings.Contains(body, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if inline := regexp.MustCompile(`<script[^>]*>[^<]`).FindString(body); inline != "" {
		t.Errorf("an inline script: %s", inline)
	}
}

// What the page loads is there, and relative, also what its modules load.
func TestAllThatThePageNeedsIsThere(t *testing.T) {
	c := made(t, console.Config{})
	loads := regexp.MustCompile(`(?:src|href|from)[= ]"([^"#]+)"`)
	seen := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if strings.HasPrefix(name, "/") {
			t.Errorf("%s is not relative", name)
		}
		w := get(c, "/"+strings.TrimPrefix(name, "./"))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", name, w.Code)
		}
		for _, m := range loads.FindAllStringSubmatch(w.Body.String(), -1) {
			follow(m[1])
		}
	}
	follow("")
	if len(seen) < 10 {
		t.Errorf("only %v", seen)
	}
}

func TestAssetsAreAskedForOnceAndThenOnlyWhetherTheyAreNew(t *testing.T) {
	c := made(t, console.Config{})
	first := get(c, "/main.js")
	req := httptest.NewRequest(http.MethodGet, "/main.js", nil)
	req.Header.Set("If-None-Match", first.Header().Get("ETag"))
	again := httptest.NewRecorder()
	c.ServeHTTP(again, req)
	if again.Code != http.StatusNotModified || again.Body.Len() > 0 || first.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%d, %v", again.Code, first.Header())
	}
}

func TestTheConsoleWorksBelowAnyPrefix(t *testing.T) {
	c := made(t, console.Config{})
	for name, h := range map[string]http.Handler{
		"stripped": http.StripPrefix("/a/b", c), "as it is": c,
	} {
		for path, want := range map[string]int{"/a/b/": 200, "/a/b/state.json": 200, "/a/b/console.css": 200, "/a/b/act": 405, "/a/b/other": 404} {
			if got := get(h, path).Code; got != want {
				t.Errorf("%s, %s: %d, want %d", name, path, got, want)
			}
		}
	}
}

func TestAMissingSlashIsAddedWhereverThatIs(t *testing.T) {
	c := made(t, console.Config{})
	for prefix, want := range map[string]string{"/console": "./console/", "/a/b": "./b/", "//evil.example": "./evil.example/"} {
		req := httptest.NewRequest(http.MethodGet, prefix+"?x=//evil.example/", nil)
		req.URL.Path, req.URL.RawPath = prefix, ""
		w := httptest.NewRecorder()
		http.StripPrefix(prefix, c).ServeHTTP(w, req)
		if w.Code != http.StatusMovedPermanently || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", prefix, w.Code, w.Header().Get("Location"), want)
		}
	}
}

func TestOnlyReadingMethodsReadAnything(t *testing.T) {
	c := made(t, console.Config{}, console.WithActions(anybody))
	for _, path := range []string{"/", "/state.json", "/events", "/main.js"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			w := httptest.NewRecorder()
			c.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(http.MethodHead, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, w.Code)
		}
	}
}
