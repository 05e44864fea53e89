package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// others are requests that come meanwhile.
func others(actors ...string) (all []root) {
	for i := range 6 {
		for _, a := range actors {
			all = append(all, root{time.Duration(3*i) * time.Millisecond, a, counted()})
		}
	}
	return all
}

// S7: calls back into an actor that waits, with a death at every append and other
// requests queued all the time.
func TestS7_CallsBackIntoAnActorThatWaits(t *testing.T) {
	for name, main := range map[string][]op{
		"a direct call of itself":               {to("call", "p/0", counted()...)},
		"a, b, a, b":                            {to("call", "q/2", to("call", "p/0", to("call", "q/2", counted()...)))},
		"the callee tail-calls into its caller": {to("call", "q/leaf", to("tail to", "p/0", counted()...))},
		"a callback that failed after it had called, beside its sibling": {
			to("go", "q/2", to("call", "p/0", lines(increment("c1"), []op{to("call", "q/leaf"), {Do: "retry"}})...)),
			to("go", "q/4", sleep(3), to("call", "p/0", counted()...)), {Do: "await"},
		},
		"a callback that keeps the actor, beside its sibling": {to("go", "q/2", to("call", "p/0", counted()...)), to("go", "p/0", counted()...), {Do: "await"}},
	} {
		t.Run(name, func(t *testing.T) {
			play := &scenario{hosts: []string{"p", "q"}, roots: append([]root{{0, "p/0", lines(main, counted())}}, others("p/0", "q/2")...)}
			play.settings.Backoff = func(uint64) time.Duration { return 50 * time.Millisecond }
			play.everywhere(t, func(w *world) string { return atLeast(w, "p/0", 7) })
		})
	}
}

// atLeast says so if an actor has not counted what was asked of it. What is nested
// may be counted more than once.
func atLeast(w *world, actor string, want int) string {
	a, got := address(actor), 0
	_, _ = fmt.Sscan(w.judge.Cell(a.Type, a.Actor, "c0"), &got)
	if got < want {
		return fmt.Sprintf("%s has counted to %d, want %d", actor, got, want)
	}
	return ""
}

// S8: calls side by side, awaited together, one by one, or not at all, with work
// between.
func TestS8_CallsSideBySide(t *testing.T) {
	back := func() op { return to("go", "q/2", to("call", "p/0", counted()...)) }
	for name, main := range map[string][]op{
		"all awaited at the end": {back(), to("go", "p/0", counted()...), to("go", "q/4"), {Do: "await"}},
		"awaited one by one":     {back(), to("go", "q/4", sleep(3)), {Do: "await one"}, back(), {Do: "await back"}, {Do: "await"}},
		"a callback comes while its ancestor computes": { // H5
			to("go", "q/4"), to("go", "q/2", sleep(10), to("call", "p/0", counted()...)), {Do: "await one"},
			{Do: "get", Cell: "c0"}, sleep(30), {Do: "set", Cell: "c0"}, {Do: "await"},
		},
		"a caller would go on beside a callback":       {to("go", "q/4", sleep(5)), to("go", "q/2", to("call", "p/0", sleep(30))), {Do: "await one"}, {Do: "await"}}, // H6
		"it writes between a call and the wait for it": {back(), {Do: "get", Cell: "c0"}, {Do: "set", Cell: "c0"}, {Do: "await"}},                                    // H18
		"a goroutine calls while its method ends":      {back(), to("leak", "q/leaf", op{Do: "end"}), {Do: "await"}, sleep(1)},                                       // H13
		"a goroutine calls when its method has ended":  {to("leak", "q/leaf", op{Do: "end"})},                                                                        // H13
		"a goroutine calls beside one that waits":      {to("leak", "q/leaf", op{Do: "end"}), to("call", "q/2", to("call", "p/0", counted()...))},                    // H13
		"what is not awaited is waited for at its end": {back(), to("go", "q/4", sleep(10))},
	} {
		t.Run(name, func(t *testing.T) {
			play := &scenario{hosts: []string{"p", "q"}, roots: append([]root{{0, "p/0", lines(main, counted())}}, others("p/0")...)}
			play.everywhere(t, func(w *world) string { return atLeast(w, "p/0", 7) })
		})
	}
}

// S9: tail calls to others.
func TestS9_TailCallsToOthers(t *testing.T) {
	ring := to("tail to", "q/2", lines(increment("c0"), []op{to("tail to", "r/5", lines(increment("c0"), []op{to("tail to", "p/0", counted()...)})...)})...)
	for name, x := range map[string]struct {
		main []op
		want map[string]string
	}{
		"within the partition":      {[]op{to("tail to", "p/1", counted()...)}, map[string]string{"p/1.c0": "1"}},
		"to itself, with release":   {[]op{{Do: "tail release", Script: counted()}}, map[string]string{"p/0.c0": "7"}},
		"round three and home":      {lines(increment("c1"), []op{ring}), map[string]string{"p/0.c1": "1", "q/2.c0": "1", "r/5.c0": "1", "p/0.c0": "7"}},
		"from a nested call":        {lines([]op{to("call", "q/2", ring)}, counted()), nil},
		"from a callback":           {lines([]op{to("call", "q/2", to("call", "p/0", to("tail to", "r/5", counted()...)))}, counted()), nil},
		"from a callback, homeward": {lines([]op{to("call", "q/2", to("call", "p/0", to("tail to", "r/5", to("tail to", "p/0", counted()...))))}, counted()), nil},
	} {
		t.Run(name, func(t *testing.T) {
			play := &scenario{hosts: []string{"p", "q", "r"}, roots: append([]root{{0, "p/0", x.main}}, others("p/0")...)}
			play.everywhere(t, func(w *world) string { return w.cells(x.want) + atLeast(w, "p/0", 6) })
		})
	}
}

// S9: a copy of each step of a chain, early and late.
func TestS9_CopiesOfTheStepsOfAChain(t *testing.T) {
	chain := lines(increment("c0"), []op{to("tail to", "q/2", lines(increment("c0"), []op{to("tail to", "p/1", counted()...)})...)})
	for process := range 2 {
		for n := 1; n <= 3-2*process; n++ {
			for _, late := range []time.Duration{10 * time.Microsecond, 3 * time.Millisecond, 10 * time.Second} {
				play := &scenario{hosts: []string{"p", "q"}, roots: []root{{0, "p/0", chain}}, faults: []simtest.Fault{once(simtest.Copy, process, "append step", n, late)}}
				if wrong := play.run(t).cells(map[string]string{"p/0.c0": "1", "q/2.c0": "1", "p/1.c0": "1"}); wrong != "" {
					t.Error(wrong)
				}
			}
		}
	}
}
