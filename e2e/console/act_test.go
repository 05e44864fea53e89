package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/middleware/console"
)

func TestAButtonForcesABreakerOpen(t *testing.T) {
	w := newWorld(t, console.Config{}, console.WithActions(anybody))
	payments := w.registry(touchy("payments"), "pay.example.com")
	b := browse(t)
	b.open(w.url, 1280, 900, "light")
	b.wait(`document.querySelector("#rows .word")?.textContent === "idle"`)
	b.click("#rows .name")
	b.wait(`document.querySelectorAll("[data-action]").length === 4`)

	b.click(`[data-action="force-open"]`)
	b.wait(`document.querySelector("#confirm").open`)
	if got := eval[string](b, `document.activeElement.textContent + ": " + document.querySelector("#confirm-title").textContent`); got != "Cancel: Force open: payments pay.example.com" {
		t.Errorf("the question: %q", got)
	}
	b.click(`#confirm [value="no"]`)
	if err := call(t.Context(), payments, "pay.example.com", 0, nil); err != nil {
		t.Fatalf("nobody has agreed, and still: %v", err)
	}

	b.click(`[data-action="force-open"]`)
	b.click("#confirm-yes")
	b.wait(`document.querySelector("#rows .word").textContent === "forced open"`)
	refusal, ok := errors.AsType[*breaker.OpenError](call(t.Context(), payments, "pay.example.com", 0, nil))
	if !ok || refusal.State != breaker.ForcedOpen {
		t.Errorf("the client gets %v", refusal)
	}
	if !eval[bool](b, `document.querySelector('[data-action="force-open"]').disabled`) {
		t.Error("what is so already can be asked for again")
	}

	for action, state := range map[string]string{"force-closed": "forced closed", "metrics-only": "metrics only"} {
		b.click(fmt.Sprintf(`[data-action=%q]`, action))
		b.click("#confirm-yes")
		b.wait(fmt.Sprintf(`document.querySelector("#rows .word").textContent === %q`, state))
	}
	b.click(`[data-action="reset"]`)
	b.click("#confirm-yes")
	b.wait(`document.querySelector("#rows .word").textContent === "well"`)
	if err := call(t.Context(), payments, "pay.example.com", 0, nil); err != nil {
		t.Error(err)
	}
}

func TestWhoMayNotActSeesNoButtonsAndIsRefused(t *testing.T) {
	for name, options := range map[string][]console.Option{
		"actions are off": nil,
		"not permitted":   {console.WithActions(func(*http.Request) bool { return false })},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, console.Config{}, options...)
			w.registry(touchy("payments"), "pay.example.com")
			b := browse(t)
			b.open(w.url, 1280, 900, "light")
			b.wait(`document.querySelectorAll("#rows .name").length === 1`)
			b.click("#rows .name")
			b.wait(`document.querySelectorAll("tr.detail .facts dd").length > 5`)
			if n := eval[int](b, `document.querySelectorAll("[data-action]").length`); n != 0 {
				t.Errorf("%d buttons", n)
			}
			if got := post(t, w.url+"act", map[string]string{"Content-Type": "application/json"}); got != http.StatusForbidden {
				t.Errorf("a POST: %d", got)
			}
		})
	}
}

func post(t *testing.T, url string, header map[string]string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"id": "x", "action": "force-open"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// A page of another origin tries what such pages try. The browser sends what
// it sends; the breaker stays closed.
func TestAnotherSiteCannotAct(t *testing.T) {
	w := newWorld(t, console.Config{}, console.WithActions(anybody))
	payments := w.registry(touchy("payments"), "pay.example.com")
	evil := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(rw, "<!doctype html><title>evil</title><link rel=icon href=data:,>")
	}))
	t.Cleanup(evil.Close)
	b := browse(t)
	b.forgive("Access to fetch", "net::ERR_FAILED", "Failed to load resource", "Framing", "frame-ancestors")
	b.open(strings.Replace(evil.URL, "127.0.0.1", "localhost", 1), 800, 600, "light")
	for name, script := range map[string]string{
		"a form's POST": `await fetch(url + "act", {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: "{}"}).then(r => r.type)`,
		"a JSON POST":   `await fetch(url + "act", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then(r => "sent")`,
		"its state":     `await (await fetch(url + "state.json")).text()`,
		"its page":      `await (await fetch(url)).text()`,
	} {
		got := eval[string](b, fmt.Sprintf(`(async () => { const url = %q; try { return String(%s) } catch (e) { return "refused" } })()`, w.url, script))
		if got != "refused" && got != "opaque" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := call(t.Context(), payments, "pay.example.com", 0, nil); err != nil {
		t.Error(err)
	}
	if got := payments.Get("pay.example.com", backstay.Now()).Status().Breaker.State; got != "closed" {
		t.Errorf("the breaker is %s", got)
	}
}

func TestAForgedRequestIsRefusedWhateverItKnows(t *testing.T) {
	w := newWorld(t, console.Config{}, console.WithActions(anybody))
	w.registry(touchy("payments"), "pay.example.com")
	b := browse(t)
	b.open(w.url, 1280, 900, "light")
	token := eval[string](b, `document.querySelector("meta[name=token]").content`)
	for name, header := range map[string]map[string]string{
		"from another site":   {"Sec-Fetch-Site": "cross-site"},
		"from a sibling site": {"Sec-Fetch-Site": "same-site"},
		"from another origin": {"Origin": "https://evil.example"},
		"from nowhere":        {"Origin": "null"},
	} {
		header["Content-Type"], header["X-Console-Token"] = "application/json", token
		if got := post(t, w.url+"act", header); got != http.StatusForbidden {
			t.Errorf("%s, with a good token: %d", name, got)
		}
	}
	good := map[string]string{"Content-Type": "application/json", "X-Console-Token": token}
	if got := post(t, w.url+"act", good); got != http.StatusNotFound {
		t.Errorf("from here, for a pipeline that is not there: %d", got)
	}
	good["X-Console-Token"] = "guessed"
	if got := post(t, w.url+"act", good); got != http.StatusForbidden {
		t.Errorf("with a guessed token: %d", got)
	}
}
