package chaos_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

func succeeds(context.Context) (string, error) { return "hello", nil }

func TestFaultsThatAreNotValidChangeNothing(t *testing.T) {
	if i, err := chaos.New([]middleware.Fault{{}}); i != nil || err == nil || !strings.HasPrefix(err.Error(), "chaos.faults[0].name: ") {
		t.Errorf("%v %v", i, err)
	}
	i := injector(t, always(middleware.FaultReset))
	if err := i.Set([]middleware.Fault{{Name: "x"}}); err == nil {
		t.Error("set")
	}
	if all := i.Faults(); len(all) != 1 || all[0].Kind != middleware.FaultReset {
		t.Errorf("now %+v", all)
	}
}

func TestTheSwitch(t *testing.T) {
	i := injector(t, always(middleware.FaultReset))
	down := func() bool {
		_, err := chaos.Do(t.Context(), i, chaos.Request{}, succeeds)
		return err != nil
	}
	for n, step := range []struct {
		do   func()
		want bool
	}{
		{func() {}, true},
		{i.Disable, false},
		{i.Disable, false},
		{func() { _ = i.Set([]middleware.Fault{always(middleware.FaultError)}) }, false}, // still off
		{i.Enable, true},
		{i.Enable, true},
		{func() { _ = i.Set(nil) }, false},
	} {
		step.do()
		if got := down(); got != step.want {
			t.Errorf("step %d: %v", n, got)
		}
	}
	if !i.Enabled() {
		t.Error("an injector without faults is still on")
	}
}

func TestAnInjectorSharesNothingWithItsCaller(t *testing.T) {
	faults := []middleware.Fault{always(middleware.FaultStatus)}
	faults[0].Match.Methods, faults[0].Headers = []string{"GET"}, map[string]string{"A": "b"}
	i := injector(t, faults...)
	want := i.Faults()
	faults[0].Match.Methods[0], faults[0].Headers["A"], faults[0].Share = "PUT", "c", 0.1
	got := i.Faults()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	got[0].Headers["A"] = "d"
	if !reflect.DeepEqual(i.Faults(), want) {
		t.Error("what is handed out is shared")
	}
}

func TestFaultsChangeWhileCallsAreUnderWay(t *testing.T) {
	i, seen := watched(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				_, _ = chaos.Do(t.Context(), i, chaos.Request{}, succeeds)
			}
		})
	}
	for n := range 200 {
		_ = i.Set([]middleware.Fault{always(middleware.FaultKinds()[n%3])})
		i.Disable()
		i.Enable()
		_ = i.Enabled()
	}
	wg.Wait()
	for _, e := range seen.Events() {
		if e.Kind != backstay.FaultInjected {
			t.Fatal(e)
		}
	}
}

func TestACallWithoutAFaultCostsNothing(t *testing.T) {
	elsewhere := middleware.FaultMatch{Host: "x", Methods: []string{"GET"}, Route: "/{a}/b", Header: "X-Chaos"}
	never := always(middleware.FaultReset)
	never.Until = time.Unix(1, 0)
	off := injector(t, always(middleware.FaultReset))
	off.Disable()
	for name, i := range map[string]*chaos.Injector{
		"nil": nil, "none": injector(t), "off": off, "over": injector(t, never),
		"elsewhere": injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultReset, Share: 1, Match: elsewhere}),
		"spared":    injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultReset, Share: 1e-12}),
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			testkit.Allocs(t, 0, func() {
				_, _ = chaos.Do(t.Context(), i, chaos.Request{Host: "y", Path: "/a/b"}, func(context.Context) (int, error) {
					n++
					return n, nil
				})
			})
			rt := chaos.NewTransport(roundTripper(nothing), i)
			req := request(t.Context(), t, "GET")
			testkit.Allocs(t, 0, func() { _, _ = rt.RoundTrip(req) })
		})
	}
}

func BenchmarkOff(b *testing.B) {
	i, _ := chaos.New(nil)
	for b.Loop() {
		_, _ = chaos.Do(b.Context(), i, chaos.Request{}, succeeds)
	}
}

func BenchmarkSpared(b *testing.B) {
	i, _ := chaos.New([]middleware.Fault{{Name: "x", Kind: middleware.FaultReset, Share: 1e-12}})
	for b.Loop() {
		_, _ = chaos.Do(b.Context(), i, chaos.Request{}, succeeds)
	}
}

func TestAnInjectorTakesTheFaultsOfATarget(t *testing.T) {
	i, err := chaos.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := middleware.Fault{Name: "down", Share: 1, Kind: middleware.FaultRefused}
	if err := i.Apply(middleware.Target{Faults: []middleware.Fault{want}}); err != nil {
		t.Fatal(err)
	}
	if got := i.Faults(); len(got) != 1 || got[0].Name != "down" {
		t.Errorf("faults %+v", got)
	}
	if err := i.Apply(middleware.Target{}); err != nil || len(i.Faults()) != 0 {
		t.Errorf("%v, still %v", err, i.Faults())
	}
}

func TestANilInjectorInjectsNothing(t *testing.T) {
	var i *chaos.Injector
	i.Enable()
	i.Disable()
	if i.Enabled() || len(i.Faults()) != 0 {
		t.Error("it has something")
	}
	if err := i.Set(nil); err == nil {
		t.Error("it takes faults, and would lose them")
	}
}
