package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
	"github.com/backstay-go/backstay/internal/testkit"
)

// S1: a copy of a client's request comes at every stage of its chain's life, and
// starts nothing.
func TestS1_AResendOfAClientStartsNothing(t *testing.T) {
	const window = 3 * time.Second
	ring := func(away int) []op { // from its home over another partition back to its home, and off again
		last := to("tail to", "q/4", lines(increment("c0"), []op{{Do: "end"}})...)
		third := to("tail to", "p/1", lines(increment("c0"), []op{last})...)
		return lines(increment("c0"), []op{to("tail to", "q/2", lines(increment("c0"), []op{sleep(away), third})...)})
	}
	copied := func(after time.Duration) simtest.Fault {
		return once(simtest.Copy, theClient, "append client request", 1, after)
	}
	both := []string{"p", "q", "pq"}
	type stage struct {
		name   string
		away   int
		config runtime.Config
		faults []simtest.Fault
	}
	stages := []stage{
		{"a while the chain is away", 100, runtime.Config{}, []simtest.Fault{copied(50 * time.Millisecond)}},
		{"b after it ended off its home, which does not know", 20, runtime.Config{}, []simtest.Fault{copied(80 * time.Millisecond), once(simtest.Slow, 1, "append response", 1, 200*time.Millisecond)}},
		{"b after it ended off its home, which knows", 20, runtime.Config{}, []simtest.Fault{copied(200 * time.Millisecond)}},
		{"c after all is quiet", 1, runtime.Config{}, []simtest.Fault{copied(20 * time.Second)}},
		{"e across a restart of its home, away", 8000, runtime.Config{SnapshotRecords: 1}, []simtest.Fault{copied(6 * time.Second), once(simtest.Crash, 0, "time", 100, 0)}},
		{"e across a restart of its home, done", 20, runtime.Config{SnapshotRecords: 1}, []simtest.Fault{copied(6 * time.Second), once(simtest.Crash, 0, "time", 500, 0)}},
	}
	for off := -1; off <= 1; off++ { // ms
		at := copied(window + time.Duration(off)*time.Millisecond)
		for name, away := range map[string]int{"away": 4000, "done": 20} {
			stages = append(stages, stage{fmt.Sprintf("d at its until and %d ms, %s", off, name), away, runtime.Config{Window: window}, []simtest.Fault{at}})
		}
	}
	for us := 100; us < 40_000; us += 1300 {
		stages = append(stages, stage{fmt.Sprintf("at %d us", us), 5, runtime.Config{}, []simtest.Fault{copied(time.Duration(us) * time.Microsecond)}})
	}
	for _, x := range stages {
		t.Run(x.name, func(t *testing.T) {
			play := &scenario{hosts: both, config: x.config, faults: x.faults, roots: []root{{0, "p/0", ring(x.away)}}}
			w := play.run(t)
			if n := w.accepted(); n != 1 {
				t.Errorf("%d requests were accepted", n)
			}
			if wrong := w.cells(map[string]string{"p/0.c0": "1", "q/2.c0": "1", "p/1.c0": "1", "q/4.c0": "1"}); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// S4: caller, callee and its callee die at every point of a call, one, two or all
// three of them. Who called is tried again after those that it called: the judge
// sees to that (P3).
func TestS4_ACrashAtEveryPointOfANestedCall(t *testing.T) {
	at := func(e simtest.Effect, point string) func(process int) simtest.Fault {
		return func(process int) simtest.Fault { return once(e, process, point, 1, 0) }
	}
	caller := []func(int) simtest.Fault{
		at(simtest.Crash, "append issued"), at(simtest.CrashAfter, "append issued"), // before and after it is on record
		at(simtest.Crash, "append request"), at(simtest.CrashAfter, "append request"), // before and after it is forwarded
		at(simtest.Crash, "append step"), at(simtest.CrashAfter, "append step"), // the result is read; the step is not
	}
	callee := []func(int) simtest.Fault{
		at(simtest.Crash, "point body"), at(simtest.Crash, "append response"), at(simtest.CrashAfter, "append response"),
	}
	inner := to("call", "r/5", lines([]op{{Do: "point"}}, counted())...)
	middle := to("call", "q/2", lines([]op{{Do: "point"}, inner}, counted())...)
	play := &scenario{hosts: []string{"p", "q", "r"}, roots: []root{{0, "p/0", lines([]op{middle}, counted())}}}
	none := []func(int) simtest.Fault{nil}
	seed := uint64(0)
	for _, a := range append(none, caller...) {
		for _, b := range append(append(none, caller...), callee...) {
			for _, c := range append(none, callee...) {
				var faults []simtest.Fault
				for process, f := range []func(int) simtest.Fault{a, b, c} {
					if f != nil {
						faults = append(faults, f(process))
					}
				}
				x := play.with(faults...)
				if x.seed, seed = seed, seed+1; testkit.Race && seed%7 > 0 {
					continue
				}
				w := x.run(t)
				if wrong := w.cells(map[string]string{"p/0.c0": "1"}); wrong != "" {
					t.Errorf("under %q: %s", simtest.Faults(faults), wrong)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
}

// S10: a request expires at about the time when it may begin (H8), and its client
// sends it again. Whatever it ended with stays its end.
func TestS10_WhatExpiresWhileItMayBeginEndsOnce(t *testing.T) {
	for ttl := 15; ttl <= 26; ttl++ { // the actor is busy for 20 ms
		for _, again := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 5 * time.Second} {
			play := &scenario{
				hosts: []string{"p", "q"}, seed: uint64(ttl), //nolint:gosec // small
				faults: []simtest.Fault{once(simtest.Copy, theClient, "append client request", 2, again)},
				roots: []root{
					{0, "p/0", []op{sleep(20), {Do: "go", To: "q/2", TTL: ttl, Script: increment("c0")}, {Do: "end"}}},
					{0, "q/2", []op{sleep(20)}},
					{time.Millisecond, "p/0", []op{{Do: "end"}}},
				},
			}
			if w := play.run(t); w.accepted() != 3 {
				t.Errorf("ttl %d, again after %v: %d requests were accepted", ttl, again, w.accepted())
			}
		}
	}
}
