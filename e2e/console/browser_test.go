package console_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// soon is how long the page may take for anything.
const soon = 20 * time.Second

// tab is a page in a browser of its own profile.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	forgiven []string // what the page may complain of
}

// browse starts a browser, for one test.
func browse(t *testing.T) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is missing: apt-get install chromium")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(filepath.Join(t.TempDir(), "profile")),
	)
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		_ = chromedp.WaitClosed(ctx)
	})
	b.watchConsole()
	return b
}

// watchConsole fails the test for everything that the page complains of.
func (b *tab) watchConsole() {
	b.t.Helper()
	messages := chromedp.Console(b.ctx)
	var reader sync.WaitGroup
	reader.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if (m.IsException() || m.Type == "error" || m.Type == "warning") && !b.forgives(m.Text) {
				b.t.Errorf("the page complains: %s", m)
			}
		}
	})
	b.t.Cleanup(reader.Wait) // registered after the browser's end, and so before it
}

// forgive lets the page complain with any of the words.
func (b *tab) forgive(words ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgiven = append(b.forgiven, words...)
}

func (b *tab) forgives(complaint string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.forgiven, func(words string) bool { return strings.Contains(complaint, words) })
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, soon)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open goes to url with a window of the given size, in light or in dark.
func (b *tab) open(url string, width, height int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
	b.scheme(scheme)
	b.do(chromedp.Navigate(url))
}

func (b *tab) scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what the JavaScript expression says.
func eval[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	raw, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		b.t.Fatalf("%s: %s: %v", expression, raw, err)
	}
	return v
}

// wait waits until the JavaScript expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, expression) {
			return
		}
	}
	b.t.Fatalf("never true: %s\nthe page reads:\n%s", expression, eval[string](b, `document.body.innerText`))
}

// click clicks on what the selector finds.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}
