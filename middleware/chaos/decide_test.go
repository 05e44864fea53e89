package chaos_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

// series draws the given numbers, and then fails.
func series(t *testing.T, numbers ...float64) func() float64 {
	return func() float64 {
		t.Helper()
		if len(numbers) == 0 {
			t.Fatal("one number too many was drawn")
		}
		u := numbers[0]
		numbers = numbers[1:]
		return u
	}
}

func TestTheShareIsKept(t *testing.T) {
	const calls = 100_000
	i := injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultError, Share: 0.2})
	lot := rand.New(rand.NewPCG(1, 2))
	n := 0
	for range calls {
		if hits(i.Decide(time.Now(), chaos.Request{}, lot.Float64)) {
			n++
		}
	}
	// Three standard deviations.
	if want, most := calls*0.2, 3*math.Sqrt(calls*0.2*0.8); math.Abs(float64(n)-want) > most {
		t.Errorf("%d of %d calls, want %v", n, calls, want)
	}
}

func TestTheEdgesOfAShare(t *testing.T) {
	all := injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultError, Share: 1})
	if !hits(all.Decide(time.Now(), chaos.Request{}, series(t, math.Nextafter(1, 0)))) {
		t.Error("a share of 1 spares a call")
	}
	some := injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultError, Share: 0.5})
	for u, want := range map[float64]bool{0: true, 0.49: true, 0.5: false, 0.99: false} {
		if got := hits(some.Decide(time.Now(), chaos.Request{}, series(t, u))); got != want {
			t.Errorf("at %v: %v", u, got)
		}
	}
	if hits(some.Decide(time.Now(), chaos.Request{}, series(t, math.NaN()))) {
		t.Error("no number is no hit")
	}
}

func TestLatenciesAddUpAndTheFirstEndIsTheLast(t *testing.T) {
	i := injector(t,
		middleware.Fault{Name: "slow", Kind: middleware.FaultLatency, Share: 0.5, Latency: middleware.Latency{Distribution: "uniform", Max: 100}},
		middleware.Fault{Name: "down", Kind: middleware.FaultRefused, Share: 0.5, Latency: middleware.Latency{Mean: 7}},
		middleware.Fault{Name: "late", Kind: middleware.FaultReset, Share: 1},
	)
	d := i.Decide(time.Now(), chaos.Request{}, series(t, 0, 0.5, 0, 0.9))
	if len(d.Injected) != 2 || d.Injected[0].Latency != 50 || d.Injected[1].Fault.Name != "down" || d.Injected[1].Latency != 7 {
		t.Errorf("%+v", d)
	}
	d = i.Decide(time.Now(), chaos.Request{}, series(t, 0.5, 0.5, 0))
	if len(d.Injected) != 1 || d.Injected[0].Fault.Name != "late" {
		t.Errorf("%+v", d)
	}
}

func TestNothingIsDrawnForAFaultThatIsNotOn(t *testing.T) {
	now := time.Unix(1000, 0)
	i := injector(t,
		middleware.Fault{Name: "early", Kind: middleware.FaultReset, Share: 1, From: now.Add(1)},
		middleware.Fault{Name: "late", Kind: middleware.FaultReset, Share: 1, Until: now},
		middleware.Fault{Name: "elsewhere", Kind: middleware.FaultReset, Share: 1, Match: middleware.FaultMatch{Host: "x"}},
	)
	if hits(i.Decide(now, chaos.Request{}, series(t))) {
		t.Error("injected")
	}
	if d := i.Decide(now.Add(1), chaos.Request{}, zero); !hits(d) || d.Injected[0].Fault.Name != "early" {
		t.Errorf("a moment later: %+v", d)
	}
}

func TestANilInjectorDecidesNothing(t *testing.T) {
	var i *chaos.Injector
	if hits(i.Decide(time.Now(), chaos.Request{}, series(t))) || i.Enabled() || i.Faults() != nil {
		t.Error("something out of nothing")
	}
}
