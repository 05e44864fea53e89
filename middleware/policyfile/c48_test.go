package policyfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

// Acceptance case C48.
func TestC48_EveryErrorIsReportedAtOnceWithItsPlaceAndASuggestion(t *testing.T) {
	const text = `targets:
  payments:
    retry: {max_atempts: 2}
    breaker:
      open_for: -1s
      failure_ratio: 1.5
      probes: 0
    deadline: {total: 1s}
    timeout:
      after: 3s
  search:
    match: {host: search, method: POST}
    hedge: on
`
	_, err := policyfile.Parse("policies.yaml", []byte(text))
	e, ok := errors.AsType[*policyfile.Error](err)
	if !ok || !errors.Is(err, policyfile.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
	want := []policyfile.Fault{
		{Line: 3, Column: 13, Path: "targets.payments.retry.max_atempts", Reason: "unknown key", Suggestion: "did you mean max_attempts?"},
		{Line: 5, Column: 17, Path: "targets.payments.breaker.open_for", Reason: "-1s is not allowed", Suggestion: "must be from 1ms to 24h"},
		{Line: 6, Column: 22, Path: "targets.payments.breaker.failure_ratio", Reason: "1.5 is not allowed", Suggestion: "did you mean 1.5%? must be above 0% and at most 100%, or off"},
		{Line: 7, Column: 15, Path: "targets.payments.breaker.probes", Reason: "0 is not allowed", Suggestion: "must be from 1 to 1000"},
		{Line: 10, Column: 14, Path: "targets.payments.timeout.after", Reason: "3s contradicts other values", Suggestion: "must be at most deadline.total, which is 1s: an attempt cannot outlast its call"},
		{Line: 12, Column: 12, Path: "targets.search.match", Reason: "hedging would send POST twice", Suggestion: "set hedge: off, or state idempotent: true"},
	}
	if len(e.Faults) != len(want) {
		t.Fatalf("got %d faults, want %d:\n%v", len(e.Faults), len(want), err)
	}
	for i, f := range e.Faults {
		w := want[i]
		reason := strings.HasPrefix(f.Reason, w.Reason)
		f.Reason, w.Reason, w.File = "", "", "policies.yaml"
		if f != w || !reason {
			t.Errorf("fault %d:\n got %v\nwant %v", i, &e.Faults[i], &want[i])
		}
	}
}

// followed is a policy file that a test changes, and what is told of it.
type followed struct {
	t    *testing.T
	path string
	live *policyfile.Live

	mu     sync.Mutex
	events []string
}

const every = time.Second

func follow(t *testing.T, text string) *followed {
	t.Helper()
	f := &followed{t: t, path: filepath.Join(t.TempDir(), "policies.yaml")}
	f.write(text)
	live, err := policyfile.Watch(t.Context(), f.path, policyfile.WithEvery(every), policyfile.WithSignals(),
		policyfile.WithObserver(backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
			f.mu.Lock()
			defer f.mu.Unlock()
			name := e.Policy
			if name == f.path {
				name = "file"
			}
			f.events = append(f.events, string(e.Kind)+" "+name)
		})))
	if err != nil {
		t.Fatal(err)
	}
	f.live = live
	t.Cleanup(live.Close)
	return f
}

func (f *followed) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// change writes another version and waits until it has been looked at.
func (f *followed) change(text string) {
	f.t.Helper()
	f.write(text)
	f.pass()
}

func (*followed) pass() {
	time.Sleep(every + every/10) // and for a change to settle
	synctest.Wait()
}

func (f *followed) told() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := strings.Join(f.events, "; ")
	f.events = nil
	return s
}

func (f *followed) total(name string) time.Duration {
	f.t.Helper()
	target, ok := f.live.Policies().Lookup(name)
	if !ok {
		f.t.Fatalf("there is no target %s", name)
	}
	return target.Deadline.Total
}

// Acceptance case C48.
func TestC48_ABadVersionChangesNothingAndTheNextGoodOneTakesEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: {deadline: {total: 3s}}}")
		f.change("targets: {pay: {deadline: {total: 3}}}")
		if got := f.total("pay"); got != 3*time.Second {
			t.Errorf("a bad version is in force: the total is %v", got)
		}
		if err := f.live.Err(); !errors.Is(err, policyfile.ErrInvalid) {
			t.Errorf("Err is %v", err)
		}
		f.pass()
		if got, want := f.told(), "policies refused file"; got != want {
			t.Errorf("told %q, want %q, once", got, want)
		}
		f.change("targets: {pay: {deadline: {total: 4s}}}")
		if got := f.total("pay"); got != 4*time.Second {
			t.Errorf("a good version is not in force: the total is %v", got)
		}
		if err := f.live.Err(); err != nil {
			t.Errorf("Err is %v", err)
		}
		if got, want := f.told(), "policies loaded file; policy changed pay"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// Acceptance case C48.
func TestC48_OnlyTheEntriesThatChangedAreHandedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: {deadline: {total: 3s}}, stock: on}")
		got := map[string][]time.Duration{}
		for _, name := range []string{"pay", "stock"} {
			f.live.Subscribe(name, func(t middleware.Target) { got[name] = append(got[name], t.Deadline.Total) })
		}
		f.change("# the same\ntargets:\n  stock: {extends: standard}\n  pay: {deadline: {total: 3s}}\n")
		if len(got["pay"]) != 0 || len(got["stock"]) != 0 {
			t.Errorf("a comment changed %v", got)
		}
		f.change("targets: {pay: {deadline: {total: 4s}}, stock: on}")
		if len(got["pay"]) != 1 || got["pay"][0] != 4*time.Second || len(got["stock"]) != 0 {
			t.Errorf("a change of pay changed %v", got)
		}
	})
}
