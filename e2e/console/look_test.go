package console_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

// troubled is a page with a bit of everything, and its details open.
func troubled(t *testing.T) (*world, *tab) {
	t.Helper()
	w := newWorld(t, console.Config{}, console.WithActions(anybody), console.WithErrors(error.Error))
	payments := w.registry(touchy("payments"), "well.example.com", "a-host-with-a-long-name.in-a-region.of-a-cloud.internal.example.com:8443")
	for range 12 {
		_ = call(t.Context(), payments, "down.example.com", time.Millisecond, errDown)
		_ = call(t.Context(), payments, "well.example.com", time.Millisecond, nil)
	}
	catalog := w.registry(middleware.Reads("catalog"), "catalog-1", "catalog-2")
	catalog.All(func(key string, p *middleware.Pipeline) bool {
		p.Breaker().MetricsOnly()
		return key == ""
	})
	b := browse(t)
	b.open(w.url, 1280, 900, "light")
	b.wait(`document.querySelectorAll("#rows tr.down").length === 1`)
	b.click("#rows tr.down .name")
	b.wait(`document.querySelectorAll("tr.detail .facts dd").length > 5 && document.querySelectorAll("tr.detail .notices time").length > 0`)
	return w, b
}

func TestThePageFitsIntoEveryWindow(t *testing.T) {
	_, b := troubled(t)
	url := eval[string](b, `location.href`)
	for _, width := range []int64{320, 375, 640, 768, 1024, 1280, 1440, 1920} {
		b.open(url, width, 800, "light")
		b.wait(`document.querySelectorAll("tr.detail .facts dd").length > 5`)
		if got := eval[int64](b, `document.documentElement.scrollWidth`); got > width {
			t.Errorf("the page is %d wide in a window of %d; too wide are %s", got, width, eval[string](b, fmt.Sprintf(
				`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %d).map(e => e.tagName + "." + e.className).slice(0, 8).join(" ")`, width)))
		}
	}
}

// texts lists each piece of text that is seen, with its colour and the one
// behind it.
const texts = `(() => {
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (c !== "rgba(0, 0, 0, 0)" && c !== "transparent") return c;
    }
    return "rgb(255, 255, 255)";
  };
  const all = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    const words = walk.currentNode.data.trim();
    if (!words || !e.checkVisibility() || e.closest("button:disabled, .unseen, dialog")) continue;
    all.push({ words, at: e.tagName + "." + e.className, color: getComputedStyle(e).color, behind: behind(e) });
  }
  return all;
})()`

func TestTextStandsOutInLightAndInDark(t *testing.T) {
	_, b := troubled(t)
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		b.wait(fmt.Sprintf(`matchMedia("(prefers-color-scheme: %s)").matches`, scheme))
		b.standsOut(scheme)
	}
	if light, dark := background(b, "light"), background(b, "dark"); light < 0.5 || dark > 0.1 {
		t.Errorf("the page's background is as bright as %.2f in light, %.2f in dark", light, dark)
	}
}

// standsOut fails the test for text that can hardly be read.
func (b *tab) standsOut(scheme string) {
	b.t.Helper()
	all := eval[[]struct{ Words, At, Color, Behind string }](b, texts)
	if len(all) < 50 {
		b.t.Errorf("%s: only %d pieces of text", scheme, len(all))
	}
	for _, x := range all {
		if got := contrast(b.t, x.Color, x.Behind); got < 4.5 {
			b.t.Errorf("%s: %q (%s) has a contrast of %.2f: %s on %s", scheme, x.Words, x.At, got, x.Color, x.Behind)
		}
	}
}

func background(b *tab, scheme string) float64 {
	b.scheme(scheme)
	b.wait(fmt.Sprintf(`matchMedia("(prefers-color-scheme: %s)").matches`, scheme))
	return luminance(b.t, eval[string](b, `getComputedStyle(document.body).backgroundColor`))
}

// contrast is that of the Web Content Accessibility Guidelines.
func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	var rgb [3]float64
	inner, ok := strings.CutPrefix(color, "rgb(")
	if err := json.Unmarshal([]byte("["+strings.TrimSuffix(inner, ")")+"]"), &rgb); err != nil || !ok {
		t.Fatalf("the colour %q: %v", color, err)
	}
	for i, c := range rgb {
		if c /= 255; c <= 0.04045 {
			rgb[i] = c / 12.92
		} else {
			rgb[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}

// What a screen reader needs: names for everything that can be used, a table
// that is one in every window, and states that are words.
func TestThePageIsUsableWithoutSeeingIt(t *testing.T) {
	_, b := troubled(t)
	for _, width := range []int64{1280, 375} {
		b.open(eval[string](b, `location.href`), width, 800, "light")
		b.wait(`document.querySelectorAll("tr.detail .facts dd").length > 5`)
		nameless := eval[[]string](b, `[...document.querySelectorAll("button, input, a, section, nav, dialog, svg[role=img]")]
		  .filter(e => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel || e.getAttribute("aria-labelledby") || e.labels?.length))
		  .map(e => e.outerHTML.slice(0, 120))`)
		if len(nameless) > 0 {
			t.Errorf("without a name: %q", nameless)
		}
		if !eval[bool](b, `[...document.querySelectorAll("table tr")].every(r => r.getAttribute("role") === "row")
		  && [...document.querySelectorAll("#rows tr > *")].every(c => /^(cell|rowheader)$/.test(c.getAttribute("role")))`) {
			t.Error("the table has parts without a role")
		}
		if got := eval[string](b, `document.querySelector("#rows tr.down .word").textContent`); got != "open" {
			t.Errorf("the state reads %q", got)
		}
	}
	if live := eval[[]string](b, `[...document.querySelectorAll("[aria-live]")].map(e => e.ariaLive)`); len(live) == 0 || strings.Join(live, "") != strings.Repeat("polite", len(live)) {
		t.Errorf("live regions: %q", live)
	}
}

func TestThePageIsUsableWithTheKeyboard(t *testing.T) {
	_, b := troubled(t)
	order := eval[[]string](b, `[...document.querySelectorAll("a, button, input")].filter(e => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled).map(e => e.textContent.trim() || e.id)`)
	text := strings.Join(order, "|")
	if !strings.HasPrefix(text, "Skip to the pipelines|filter|all ") || !strings.Contains(text, "payments down.example.com|Force open|") {
		t.Errorf("the order of focus: %s", text)
	}
	b.wait(`(() => { const e = document.querySelector("#filter"); e.focus(); return document.activeElement === e && getComputedStyle(e).outlineStyle !== "none"; })()`)
}
