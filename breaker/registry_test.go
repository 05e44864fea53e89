package breaker_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/internal/testkit"
)

func newRegistry(t *testing.T, c breaker.Config, bounds breaker.RegistryConfig) (*breaker.Registry, *log) {
	t.Helper()
	l := new(log)
	r, err := breaker.NewRegistry(c, bounds, breaker.WithScope(&backstay.Scope{Policy: "http", Observer: l}))
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// Acceptance case C35a.
func TestC35a_AHostThatIsDownDoesNotShutOffAnother(t *testing.T) {
	r, l := newRegistry(t, breaker.Config{}, breaker.RegistryConfig{})
	for range 100 {
		_ = call(t.Context(), r.Get("a"), errBackend)
		if err := call(t.Context(), r.Get("b"), nil); err != nil {
			t.Fatal(err)
		}
	}
	wantState(t, r.Get("a"), breaker.Open)
	wantState(t, r.Get("b"), breaker.Closed)
	wantChanges(t, l, "closed>open")
	if e := l.of(backstay.BreakerChanged)[0]; e.Policy != "http" || e.Key != "a" {
		t.Errorf("the event is of %s[%s]", e.Policy, e.Key)
	}
}

func TestARegistryIsBoundedAndKeepsWhatIsOpen(t *testing.T) {
	keys := 100_000
	if testing.Short() || testkit.Race {
		keys = 5_000
	}
	synctest.Test(t, func(t *testing.T) {
		r, _ := newRegistry(t, breaker.Config{Consecutive: 2, OpenFor: time.Hour, MaxOpenFor: time.Hour}, breaker.RegistryConfig{MaxKeys: 1000})
		trip(t, r.Get("down"))
		r.Get("forced").ForceClosed()
		for i := range keys {
			_ = call(t.Context(), r.Get(fmt.Sprint("key", i)), nil)
		}
		if n := r.Len(); n > 1050 {
			t.Errorf("%d breakers, want about 1000", n)
		}
		wantState(t, r.Get("down"), breaker.Open)
		wantState(t, r.Get("forced"), breaker.ForcedClosed)
	})
}

func TestARegistryGivesUpIdleBreakersAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newRegistry(t, twoFailures(), breaker.RegistryConfig{IdleAfter: time.Minute})
		for i := range 20 {
			trip(t, r.Get(fmt.Sprint("old", i)))
		}
		time.Sleep(2 * time.Minute) // their openings are over, nobody calls
		for i := range 100 {
			r.Get(fmt.Sprint("new", i))
		}
		evicted := l.of(backstay.PipelineEvicted)
		if r.Len() != 100 || len(evicted) != 20 {
			t.Fatalf("%d breakers left, %d evicted", r.Len(), len(evicted))
		}
		for _, e := range evicted {
			if e.Policy != "http" || !strings.HasPrefix(e.Key, "old") {
				t.Errorf("evicted %s[%s]", e.Policy, e.Key)
			}
		}
	})
}

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, Probes: 2, ProbeLease: time.Minute})
		want := func(when string, busy bool) {
			t.Helper()
			if b.Busy() != busy {
				t.Errorf("%s: busy is %v", when, !busy)
			}
		}
		want("closed", false)
		trip(t, b)
		want("open", true)
		time.Sleep(time.Second)
		want("the opening is over", false)
		probe := must(b.Allow(t.Context()))
		want("probing", true)
		probe.Done(t.Context(), cancelled, 0)
		want("the probe is back", false)
		_ = must(b.Allow(t.Context()))
		time.Sleep(time.Minute)
		want("the probe has lost its lease", false)
		for _, force := range []func(){b.ForceOpen, b.ForceClosed, b.MetricsOnly} {
			force()
			want(b.State().String(), true)
		}
		b.Reset()
		want("closed by hand", false)
	})
}

func TestAllTellsEveryBreaker(t *testing.T) {
	r, _ := newRegistry(t, breaker.Config{}, breaker.RegistryConfig{})
	for _, key := range []string{"a", "b", "c"} {
		r.Get(key)
	}
	found := maps.Collect(r.All)
	if len(found) != 3 || r.Len() != 3 || found["b"] != r.Get("b") {
		t.Errorf("found %v", found)
	}
}

func TestAllFaultsOfARegistryAreToldAtOnce(t *testing.T) {
	_, err := breaker.NewRegistry(breaker.Config{Probes: -1}, breaker.RegistryConfig{MaxKeys: -1, IdleAfter: -1})
	if _, ok := errors.AsType[*backstay.FieldError](err); !ok {
		t.Fatal(err)
	}
	for _, path := range []string{"breaker.probes: ", "breaker.registry.max_keys: ", "breaker.registry.idle_after: "} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%s is missing in:\n%v", path, err)
		}
	}
}

func TestANilRegistryHasNoBreakers(t *testing.T) {
	var r *breaker.Registry
	r.All(func(string, *breaker.Breaker) bool { t.Error("it has"); return true })
	if r.Get("a") != nil || r.Len() != 0 {
		t.Error("it has")
	}
}
