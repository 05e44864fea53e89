package main

import (
	"fmt"
	"strings"
)

// target is a bound on what is measured, relative to something else that was
// measured in the same run, or absolute where to is nil.
type target struct {
	says string
	what term
	to   term
	most float64
	unit string
}

// term takes a number out of the results; false if it was not measured.
type term func(*results) (float64, bool)

func value(name, unit string) term {
	return func(s *results) (float64, bool) { return s.median(name, unit) }
}

func ns(name string) term     { return value(name, unitTime) }
func allocs(name string) term { return value(name, unitAllocs) }

// minus is what a costs more than b.
func minus(a, b term) term {
	return func(s *results) (float64, bool) {
		x, ok := a(s)
		y, also := b(s)
		return x - y, ok && also
	}
}

// added is what a library adds to the bare call of its case.
func added(of, library, unit string) term {
	return minus(value(of+"/"+library, unit), value(of+"/bare", unit))
}

// addedInTurns is added for a case whose libraries took turns.
func addedInTurns(of, library string) term {
	return minus(value(of, library+"-ns/call"), value(of, "bare-ns/call"))
}

const backstay = "backstay"

var targets = []target{
	{"whole stack, no timer: added time", added("Pipeline/bounded", backstay, unitTime), nil, 250, "ns"},
	{"whole stack, no timer: allocations", allocs("Pipeline/bounded/backstay"), nil, 0, ""},
	{"whole stack, no timer: of cep21/circuit and a loop", ns("Pipeline/bounded/backstay"), ns("Pipeline/bounded/cep21-circuit"), .5, ""},
	{"whole stack, two failed attempts: of failsafe-go", ns("Pipeline/third-succeeds/backstay"), ns("Pipeline/third-succeeds/failsafe-go"), .2, ""},

	{"round tripper, timer: added, of failsafe-go", added("RoundTripper/timer", backstay, unitTime), added("RoundTripper/timer", "failsafe-go", unitTime), .45, ""},
	{"round tripper, timer: added allocations", added("RoundTripper/timer", backstay, unitAllocs), nil, 6, ""},
	{"round tripper, no timer: added, of failsafe-go", added("RoundTripper/bounded", backstay, unitTime), added("RoundTripper/bounded", "failsafe-go", unitTime), .15, ""},
	{"round tripper, no timer: added allocations", added("RoundTripper/bounded", backstay, unitAllocs), nil, 0, ""},
	{"round tripper: allocations of a deadline header", minus(allocs("RoundTripper/bounded-header/backstay"), allocs("RoundTripper/bounded/backstay")), nil, 5, ""},

	{"gRPC unary, timer: added, of a deadline's", addedInTurns("Unary/timer-in-turns", backstay), addedInTurns("Unary/timer-in-turns", "deadline"), 1.2, ""},
	{"gRPC unary, timer: added allocations", added("Unary/timer", backstay, unitAllocs), nil, 21, ""},
	{"gRPC unary, no timer: added allocations", added("Unary/bounded", backstay, unitAllocs), nil, 5, ""},

	{"server: of a context with a deadline", ns("Handler/ignoring/backstay"), ns("Handler/ignoring/context"), 1.4, ""},
	{"server, the handler watches its context: allocations", allocs("Handler/watched/backstay"), nil, 9, ""},

	{"breaker, closed: of gobreaker", ns("Breaker/closed/backstay"), ns("Breaker/closed/gobreaker"), .3, ""},
	{"breaker, closed: allocations", allocs("Breaker/closed/backstay"), nil, 0, ""},
	{"breaker, time window: of gobreaker", ns("Breaker/time-window/backstay"), ns("Breaker/closed/gobreaker"), .6, ""},
	{"breaker, slow rule: of gobreaker", ns("Breaker/slow-rule/backstay"), ns("Breaker/closed/gobreaker"), .6, ""},
	{"breaker, open: besides its error", minus(ns("Breaker/open/backstay"), ns("Breaker/open/its-error")), nil, 60, "ns"},

	{"bulkhead, free: of a bare semaphore", ns("Bulkhead/free/backstay"), ns("Bulkhead/free/semaphore"), 1.3, ""},
	{"hedge, idle: of failsafe-go", ns("Hedge/idle/backstay"), ns("Hedge/idle/failsafe-go"), .35, ""},
	{"retry, success: added time", added("Retry/success", backstay, unitTime), nil, 15, "ns"},
	{"retry with budget, success: added time", added("Retry/success-budget", backstay, unitTime), nil, 45, "ns"},

	{"one pipeline, two processors: time, of one processor", ns("Contention/two-processors/backstay"), ns("Contention/one-processor/backstay"), 1 / 1.2, ""},
	{
		"one pipeline, two processors: contention, of a bare semaphore's",
		minus(ns("Contention/two-processors/backstay"), ns("Contention/two-instances/backstay")),
		minus(ns("Contention/two-processors/semaphore"), ns("Contention/two-instances/semaphore")), 1.5, "",
	},

	{"registry: bytes of an idle key", value("Registry/idle-key/backstay", "B/key"), nil, 300, "B"},
	{"registry, 10,000 keys: lookup", ns("Registry/lookup/backstay"), nil, 100, "ns"},
	{"policy file, 1,000 targets: lookup", ns("PolicyFile/lookup/backstay"), nil, 100, "ns"},
	{"registry, 100,000 keys: kept", value("Registry/flood/backstay", "keys"), nil, 10_000, ""},

	{"actor, call with state: of a channel's round trip", ns("Actor/call/backstay"), ns("Actor/call/channel"), 12, ""},
	{"actor, call with state: of protoactor-go without", ns("Actor/call/backstay"), ns("Actor/call/protoactor-go"), 3, ""},
	{"actor, link of a chain: of a channel's round trip", ns("Tail/link/backstay"), ns("Actor/call/channel"), 8, ""},
}

// report says of every target whether it is met.
func report(s *results) string {
	var b strings.Builder
	met, missed := 0, 0
	for _, t := range targets {
		got, ok := t.measured(s)
		switch {
		case !ok:
			fmt.Fprintf(&b, "-     %-62s not measured, or lost in noise\n", t.says)
			continue
		case got <= t.most:
			met++
			b.WriteString("pass  ")
		default:
			missed++
			b.WriteString("MISS  ")
		}
		fmt.Fprintf(&b, "%-62s %8.4g %-2s at most %.4g\n", t.says, got, t.unit, t.most)
	}
	fmt.Fprintf(&b, "%d targets met, %d missed\n", met, missed)
	return b.String()
}

func (t target) measured(s *results) (float64, bool) {
	got, ok := t.what(s)
	if t.to == nil || !ok {
		return got, ok
	}
	to, ok := t.to(s)
	return got / to, ok && to > 0
}
