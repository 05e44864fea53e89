package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay/internal/testkit"
)

// once runs the lab a single time for all tests.
var once = sync.OnceValues(func() (*lab, error) { return study(1) })

func ran(t *testing.T) *lab {
	t.Helper()
	if testing.Short() || testkit.Race { // it has one goroutine
		t.Skip("simulates for seconds")
	}
	l, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestJitterSparesCallsAndTime(t *testing.T) {
	study := ran(t).jitter
	for i, n := range crowds {
		none, full, equal := study["none"][i], study["full"][i], study["equal"][i]
		if n >= 50 && (full.calls > none.calls*2/3 || full.done > none.done/8) {
			t.Errorf("%d clients: full jitter made %.0f calls in %v, none %.0f in %v", n, full.calls, full.done, none.calls, none.done)
		}
		if full.done > equal.done {
			t.Errorf("%d clients: full jitter took %v, equal jitter %v", n, full.done, equal.done)
		}
		for name, all := range study {
			if all[i].calls < float64(2*n) {
				t.Errorf("%s: %d clients cannot all have won with %v calls", name, n, all[i].calls)
			}
		}
	}
}

// The law of the budget: every call earns a tenth of a retry, and each layer
// has a burst of three beside that, of which a fifth of a retry grows back with
// each two seconds.
func TestBudgetsBoundWhatLayersAmplify(t *testing.T) {
	study := ran(t).layers
	naive, bound := userCalls, float64(userCalls)
	for depth := range deepest {
		naive *= 3
		bound = 1.1*bound + 3 + 3*0.2
		if got := study["no budget"][depth]; got != naive {
			t.Errorf("%d layers without budgets: %d attempts, want %d", depth+1, got, naive)
		}
		if got := study["budget"][depth]; float64(got) > bound || got < userCalls*11/10 {
			t.Errorf("%d layers with budgets: %d attempts, want at most %.0f", depth+1, got, bound)
		}
		if got, want := study["no budget, one layer retries"][depth], userCalls*(2*depth+3); got != want {
			t.Errorf("%d layers of which one retries: %d attempts, want %d", depth+1, got, want)
		}
	}
	if three := study["budget"][2]; three > 1341 {
		t.Errorf("three layers: %d attempts for 1,000 calls", three)
	}
}

func TestHedgingCutsTheTailForItsPrice(t *testing.T) {
	all := ran(t).hedging
	plain := all[0]
	if plain.extra != 0 {
		t.Fatalf("no copies: %v", plain.extra)
	}
	for i, h := range all[1:] {
		if h.p999 >= plain.p999 || h.load < plain.load {
			t.Errorf("%s: p99.9 %v of %v, load %.3f of %.3f", h.name, h.p999, plain.p999, h.load, plain.load)
		}
		if h.bounded && h.extra > 0.05+100.0/hedgedCalls {
			t.Errorf("%s: %.3f copies a call, more than the budget", h.name, h.extra)
		}
		if i > 0 && !h.bounded && h.extra < all[i].extra {
			t.Errorf("%s is sent earlier than %s, and less often", h.name, all[i].name)
		}
	}
	if p95 := all[2]; p95.name != "p95" || p95.p999 > plain.p999/2 || p95.extra > 0.07 {
		t.Errorf("%+v", p95)
	}
}

func TestWithoutBudgetAndBreakerAServerStaysDown(t *testing.T) {
	study := ran(t).recovery
	for i, outage := range outages {
		neither, budget, breaker, both := study["neither"].after[i], study["budget"].after[i], study["breaker"].after[i], study["both"].after[i]
		if neither != aftermath {
			t.Errorf("%v: recovered after %v with neither", outage, neither)
		}
		if budget > time.Minute || both > time.Minute+5*time.Second || breaker > time.Minute+5*time.Second {
			t.Errorf("%v: budget %v, breaker %v, both %v", outage, budget, breaker, both)
		}
	}
	if with, without := study["budget"].load, study["neither"].load; with > 1.12*demand || without < 2.5*demand {
		t.Errorf("%.0f attempts a second with a budget, %.0f without", with, without)
	}
}

func TestTheSameSeedGivesTheSameNumbers(t *testing.T) {
	a, err := studyLayers(7)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := studyLayers(7); !reflect.DeepEqual(a, b) {
		t.Errorf("%v\n%v", a, b)
	}
}

// Floating-point arithmetic differs in its last bits between processors, and a
// simulation grows that into other numbers.
func TestTheDocumentationIsInStep(t *testing.T) {
	l := ran(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("the documentation has the numbers of another processor")
	}
	const docs, hint = "../../docs", "run go run ./examples/stormlab -docs docs"
	page, err := os.ReadFile(filepath.Join(docs, "storms.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := l.document(string(page)); err != nil || want != string(page) {
		t.Errorf("docs/storms.md: %v; %s", err, hint)
	}
	for name, want := range l.draw() {
		if got, err := os.ReadFile(filepath.Join(docs, "img", name)); err != nil || string(got) != want {
			t.Errorf("docs/img/%s: %v; %s", name, err, hint)
		}
		if !strings.Contains(string(page), "img/"+name) {
			t.Errorf("docs/storms.md does not show %s", name)
		}
	}
}

func TestFiguresAreWellFormed(t *testing.T) {
	for name, svg := range ran(t).draw() {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s has a point nowhere", name)
		}
	}
}

func TestAPageWithoutATableIsRefused(t *testing.T) {
	if _, err := ran(t).document("<!-- jitter -->\n"); err == nil {
		t.Error("no error")
	}
	if err := ran(t).publish(t.TempDir()); err == nil {
		t.Error("no page, no error")
	}
}

func TestWithoutAFolderNoFileIsWritten(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir())
	var text bytes.Buffer
	if err := ran(t).tell(&text, ""); err != nil || !strings.Contains(text.String(), "-out") {
		t.Errorf("%v, %s", err, text.String())
	}
	for _, dir := range []string{".", os.TempDir()} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left %v in %s, %v", left, dir, err)
		}
	}
}

func TestTheProgramWritesItsFigures(t *testing.T) {
	l := ran(t)
	out := filepath.Join(t.TempDir(), "new")
	var text bytes.Buffer
	if err := l.tell(&text, out); err != nil {
		t.Fatal(err)
	}
	for name := range l.draw() {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(text.String(), "| budget | 1.1x |") || !strings.Contains(text.String(), out) {
		t.Errorf("%s", text.String())
	}
}
