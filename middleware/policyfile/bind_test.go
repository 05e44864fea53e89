package policyfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

var errDown = errors.New("down")

func registry(t testing.TB, target middleware.Target) *middleware.Registry {
	t.Helper()
	r, err := middleware.NewRegistry(target)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Acceptance case C48.
func TestC48_StateSurvivesAReloadForWhatDidNotChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: {breaker: {consecutive: 2}, bulkhead: {limit: 5}}}")
		r := registry(t, f.live.Target("pay"))
		cancel := f.live.Bind("pay", r)
		p := r.Get("a", backstay.Now())
		for range 2 {
			_, _ = middleware.Do(t.Context(), p, func(context.Context) (int, error) { return 0, backstay.PermanentError(errDown) })
			_, _ = middleware.Do(t.Context(), p, func(context.Context) (int, error) { return 0, errDown })
		}
		if _, err := p.Bulkhead().Acquire(t.Context(), 1); err != nil || p.Breaker().State() != breaker.Open {
			t.Fatalf("%v, %v", err, p.Breaker().State())
		}
		spent := p.Status().Budget.Available
		f.change("targets: {pay: {breaker: {consecutive: 2}, bulkhead: {limit: 5}, timeout: {after: 1s}, hedge: {delay: 50ms}}}")
		s := p.Status()
		if s.Breaker.State != "open" || s.Budget.Available > spent+0.5 || s.Bulkhead.InFlight != 1 {
			t.Errorf("state is lost: %+v, %+v, %+v", s.Breaker, s.Budget, s.Bulkhead)
		}
		if s.Hedge == nil {
			t.Error("the change is not in force")
		}
		f.change("targets: {pay: {breaker: {consecutiv: 2}}}")
		f.change("targets: {pay: {breaker: {consecutive: 2}, bulkhead: {limit: 9}}}")
		if s := p.Status(); s.Bulkhead.Limit != 9 || s.Bulkhead.InFlight != 0 || s.Breaker.State != "open" {
			t.Errorf("after another change: %+v, %+v", s.Breaker, s.Bulkhead)
		}
		cancel()
		f.change("targets: {pay: {bulkhead: {limit: 3}}}")
		if n := p.Bulkhead().Limit(); n != 9 {
			t.Errorf("a limit of %d is applied after cancel", n)
		}
	})
}

func TestBindAppliesWhatChangedSinceTheTargetWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: {bulkhead: {limit: 5}}}")
		r := registry(t, f.live.Target("pay"))
		f.change("targets: {pay: {bulkhead: {limit: 6}}}")
		defer f.live.Bind("pay", r)()
		if n := r.Get("a", backstay.Now()).Bulkhead().Limit(); n != 6 {
			t.Errorf("the limit is %d", n)
		}
	})
}

func TestWhatCannotBeAppliedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		r, other := registry(t, f.live.Target("pay")), registry(t, middleware.Standard("other"))
		defer f.live.Bind("pay", r, other)()
		defer f.live.Bind("pya", other)()
		f.change("targets: {pay: {keys: {max: 7}}}")
		want := "policy not applied pay; policy not applied pya; policies loaded file; policy changed pay; policy not applied pay; policy not applied pay"
		if got := f.told(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
	})
}

func TestANameThatTheFileDoesNotHaveIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {payments: on}")
		var told []error
		l, err := policyfile.Watch(t.Context(), f.path, policyfile.WithSignals(), policyfile.WithObserver(
			backstay.ObserverFunc(func(_ context.Context, e backstay.Event) { told = append(told, e.Err) })))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		l.Bind("paymets")()
		if len(told) != 1 || !strings.HasSuffix(told[0].Error(), "has no target paymets; did you mean payments?") {
			t.Errorf("told %v", told)
		}
	})
}

// manyTargets is a file of n targets whose bulkheads have the limit.
func manyTargets(n, limit int) string {
	var b strings.Builder
	b.WriteString("targets:\n")
	for i := range n {
		fmt.Fprintf(&b, "  t%d: {match: {host: h%d.example.com}, breaker: {window: 40}, bulkhead: {limit: %d}}\n", i, i, limit+i%2)
	}
	return b.String()
}

func TestAThousandTargetsAreReloadedWhileCallsGoOn(t *testing.T) {
	n := 1000
	if testkit.Race {
		n = 100 // it is about races then, and takes ten times as long
	}
	path := t.TempDir() + "/policies.yaml"
	write := func(limit int) {
		if err := os.WriteFile(path, []byte(manyTargets(n, limit)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(100)
	live, err := policyfile.Watch(t.Context(), path, policyfile.WithEvery(0), policyfile.WithSignals())
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	registries := make([]*middleware.Registry, n)
	for i := range registries {
		name := fmt.Sprintf("t%d", i)
		registries[i] = registry(t, live.Target(name))
		t.Cleanup(live.Bind(name, registries[i]))
	}
	lost := registries[7].Get("down", backstay.Now()).Breaker()
	lost.ForceOpen()
	var stop atomic.Bool
	var calls, failed atomic.Int64
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i := g; !stop.Load(); i += 2 {
				p := registries[i%n].Get("a", backstay.Now())
				if _, err := middleware.Do(t.Context(), p, func(context.Context) (int, error) { return 1, nil }); err != nil {
					failed.Add(1)
				}
				if calls.Add(1)%1000 == 0 {
					time.Sleep(time.Millisecond) // let the file be read, too
				}
			}
		})
	}
	for i := range 2 {
		write(102 + 2*i)
		if err := live.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	wg.Wait()
	if failed.Load() != 0 || calls.Load() == 0 {
		t.Errorf("%d of %d calls failed", failed.Load(), calls.Load())
	}
	for i, r := range registries {
		if got := r.Get("a", backstay.Now()).Bulkhead().Limit(); got != int64(104+i%2) {
			t.Fatalf("target %d has a limit of %d", i, got)
		}
	}
	if b := registries[7].Get("down", backstay.Now()).Breaker(); b != lost || b.State() != breaker.ForcedOpen {
		t.Error("the state of a breaker is lost")
	}
}
