package console_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

func TestThePageFollowsWithoutBeingLoadedAgain(t *testing.T) {
	w := newWorld(t, console.Config{})
	b := browse(t)
	b.open(w.url, 1280, 900, "light")
	b.wait(`document.querySelector("#verdict").textContent === "No pipelines yet."`)
	eval[bool](b, `window.same = true`)

	payments := w.registry(touchy("payments"), "pay.example.com")
	if err := call(t.Context(), payments, "pay.example.com", time.Millisecond, nil); err != nil {
		t.Fatal(err)
	}
	b.wait(`document.querySelector("#verdict").textContent === "The one pipeline is well."`)
	b.wait(`document.querySelector("#link-text").textContent === "live"`)

	for range 2 {
		_ = call(t.Context(), payments, "pay.example.com", time.Millisecond, errDown)
	}
	b.wait(`document.querySelector("#rows tr.down .word")?.textContent === "open"`)
	b.wait(`document.querySelector("#verdict").textContent === "1 of 1 pipeline needs a look."`)
	b.wait(`document.querySelector("#notices").textContent.includes("breaker closed → open · consecutive failures")`)
	b.wait(`document.querySelectorAll("#rows svg.strip rect.open").length === 1`)
	if !eval[bool](b, `window.same`) {
		t.Error("the page was loaded again")
	}
}

func TestTheConnectionComesBackByItself(t *testing.T) {
	w := newWorld(t, console.Config{MaxWatchers: 1})
	w.registry(touchy("payments"), "pay.example.com")
	first, second := browse(t), browse(t)
	first.open(w.url, 1280, 900, "light")
	first.wait(`document.querySelector("#link-text").textContent === "live"`)
	second.forgive("503")
	second.open(w.url, 1280, 900, "light")
	second.wait(`document.querySelector("#link-text").textContent === "asking every 5 s" && document.querySelectorAll("#rows .name").length === 1`)
}

func TestTenThousandKeysAreFilteredAndTurnedByPages(t *testing.T) {
	w := newWorld(t, console.Config{})
	target := touchy("tenants")
	target.Keys = middleware.Keys{Max: 20_000}
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("tenant-%05d", i)
	}
	tenants := w.registry(target, keys...)
	for range 2 {
		_ = call(t.Context(), tenants, "tenant-07777", 0, errDown)
	}
	b := browse(t)
	b.open(w.url, 1280, 900, "light")
	b.wait(`document.querySelector("#rows tr .name")?.textContent === "tenants tenant-07777"`)
	b.wait(`document.querySelector("#count").textContent === "1 to 50 of 10,000 pipelines, most trouble first"`)
	if n := eval[int](b, `document.querySelectorAll("*").length`); n > 3000 {
		t.Errorf("%d elements", n)
	}
	b.click("#next")
	b.wait(`document.querySelector("#count").textContent.startsWith("51 to 100 of")`)
	eval[bool](b, `(() => { const e = document.querySelector("#filter"); e.value = "TENANT-0123"; return e.dispatchEvent(new Event("input")); })()`)
	b.wait(`document.querySelector("#count").textContent.startsWith("1 to 10 of 10 that match")`)
	b.wait(`location.search === "?q=TENANT-0123"`)
	eval[bool](b, `(() => { const e = document.querySelector("#filter"); e.value = "nobody"; return e.dispatchEvent(new Event("input")); })()`)
	b.wait(`document.querySelector("#empty").textContent === "No pipeline matches."`)
}

// Names come from outside: from hosts, from paths, from whoever makes keys.
func TestANameIsTextWhateverItHolds(t *testing.T) {
	const evil = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>"'&`
	w := newWorld(t, console.Config{Title: evil}, console.WithErrors(func(error) string { return evil }), console.WithActions(anybody))
	r := w.registry(touchy(evil), evil)
	for range 3 {
		_ = call(t.Context(), r, evil, 0, errDown)
	}
	b := browse(t)
	b.open(w.url, 1280, 900, "light")
	b.wait(`document.querySelectorAll("#rows tr.down").length === 1 && document.querySelectorAll("#notices li").length > 0`)
	b.click("#rows .name")
	b.wait(`document.querySelectorAll("tr.detail .notices time").length > 0`)
	if got := eval[int](b, `document.querySelectorAll("main img, main script").length`); got != 0 {
		t.Errorf("%d elements out of a name", got)
	}
	if got := eval[string](b, `document.title`); got != "(1) "+evil {
		t.Errorf("the title is %q", got)
	}
}
