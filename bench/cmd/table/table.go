package main

import (
	"fmt"
	"runtime"
	"strings"
)

// row is one line of the table.
type row struct{ title, of string }

var rows = []row{
	{"retry, first attempt succeeds", "Retry/success"},
	{"retry with a budget, first attempt succeeds", "Retry/success-budget"},
	{"retry, third attempt succeeds", "Retry/third-succeeds"},
	{"breaker, closed", "Breaker/closed"},
	{"breaker, closed, 2 processors", "Breaker/closed-parallel"},
	{"breaker, closed, time window", "Breaker/time-window"},
	{"breaker, open", "Breaker/open"},
	{"bulkhead, free", "Bulkhead/free"},
	{"bulkhead, full", "Bulkhead/full"},
	{"timeout, callee watches its context", "Timeout/watched"},
	{"timeout, caller's deadline is nearer", "Timeout/bounded"},
	{"hedge, idle", "Hedge/idle"},
	{"fallback, used", "Fallback/used"},
	{"whole stack", "Pipeline/watched"},
	{"whole stack, caller's deadline is nearer", "Pipeline/bounded"},
	{"whole stack, two attempts fail", "Pipeline/third-succeeds"},
	{"RoundTripper, whole stack, in memory", "RoundTripper/timer"},
	{"RoundTripper, the transport waits on its context", "RoundTripper/timer-watched"},
	{"RoundTripper, caller's deadline is nearer", "RoundTripper/bounded"},
	{"RoundTripper, whole stack, loopback", "Loopback/timer"},
	{"gRPC unary, whole stack, in memory", "Unary/timer"},
	{"gRPC unary, caller's deadline is nearer", "Unary/bounded"},
	{"server, deadline and bulkhead", "Handler/ignoring"},
	{"server, the handler watches its context", "Handler/watched"},
	{"actor, a call that changes its state", "Actor/call"},
	{"actor, 64 callers, 4 partitions", "Actors/crowd"},
}

// table is the table, and above it how it came about.
func table(s *results, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured by `make bench`: medians of %d rounds in turn, on %s with %d processors, %s/%s, %s. "+
		"Time of one call, allocations in brackets; × is the time divided by Backstay's.\n\n",
		rounds, s.cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	b.WriteString("| | bare | Backstay | others |\n|---|---:|---:|---|\n")
	for _, r := range rows {
		r.write(&b, s)
	}
	return b.String()
}

func (r row) write(b *strings.Builder, s *results) {
	ours, ok := s.median(r.of+"/"+backstay, unitTime)
	if !ok {
		return
	}
	var others []string
	for _, library := range s.libraries(r.of) {
		if library == "bare" || library == backstay || library == "its-error" {
			continue
		}
		theirs, _ := s.median(r.of+"/"+library, unitTime)
		others = append(others, fmt.Sprintf("%s %s %s×", library, s.cell(r.of+"/"+library), ratio(theirs/ours)))
	}
	fmt.Fprintf(b, "| %s | %s | **%s** | %s |\n",
		r.title, s.cell(r.of+"/bare"), s.cell(r.of+"/"+backstay), strings.Join(others, ", "))
}

// cell shows the time and, where there are any, the allocations.
func (s *results) cell(name string) string {
	t, ok := s.median(name, unitTime)
	if !ok {
		return ""
	}
	n, _ := s.median(name, unitAllocs)
	return fmt.Sprintf("%s (%.0f)", duration(t), n)
}

// ratio writes a quotient with two digits, or without a fraction.
func ratio(r float64) string {
	switch {
	case r < 0.1:
		return fmt.Sprintf("%.2f", r)
	case r < 10:
		return fmt.Sprintf("%.1f", r)
	default:
		return fmt.Sprintf("%.0f", r)
	}
}

// duration writes nanoseconds with two or three digits.
func duration(ns float64) string {
	switch {
	case ns < 10:
		return fmt.Sprintf("%.1f ns", ns)
	case ns < 1000:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 10_000:
		return fmt.Sprintf("%.1f µs", ns/1000)
	default:
		return fmt.Sprintf("%.0f µs", ns/1000)
	}
}
