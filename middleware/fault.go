package middleware

import (
	"time"
)

// Fault is a fault that a process puts into its own calls on purpose, to see
// whether the policies above hold: which calls, what share of them, what
// happens to them, and until when. It is data, and does nothing by itself:
// package middleware/chaos injects the faults of a Target, in a process that
// asks for it.
//
// Where a call matches several faults, each is drawn for itself, in order:
// latencies add up, and the first fault that ends the call is the last.
type Fault struct {
	// Name names the fault in errors, events and reports. It is required, and
	// of a target's faults no two have the same.
	Name string `json:"name" yaml:"name"`
	// Kind says what happens to the calls.
	Kind FaultKind `json:"kind" yaml:"kind"`
	// Share is how many of the calls that match have the fault: above 0 and at
	// most 1.
	Share float64 `json:"share" yaml:"share"`
	// Match says which of the target's calls these are; the zero value all.
	Match FaultMatch `json:"match,omitzero" yaml:"match,omitempty"`
	// From and Until are when the fault begins and ends. Zero is at once and
	// never; a policy file must say Until.
	From  time.Time `json:"from,omitzero" yaml:"from,omitempty"`
	Until time.Time `json:"until,omitzero" yaml:"until,omitempty"`

	// Latency is how long the call is held up before anything else. It is
	// required of [FaultLatency], and may come with any other kind.
	Latency Latency `json:"latency,omitzero" yaml:"latency,omitempty"`
	// Message is the text of a [FaultError].
	Message string `json:"message,omitempty" yaml:"message,omitempty"`
	// Status, Headers and Body are the answer of a [FaultStatus]. Status is
	// required.
	Status  int               `json:"status,omitempty" yaml:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty" yaml:"headers,omitempty"`
	Body    string            `json:"body,omitempty" yaml:"body,omitempty"`
	// After is how many bytes of the answer's body come through before a
	// [FaultTruncated] or [FaultStalled]. A body that is shorter ends in the
	// fault as well.
	After int64 `json:"after,omitempty" yaml:"after,omitempty"`
}

// FaultKind is what happens to a call that has a [Fault].
type FaultKind string

// The kinds of faults. Those that do not say otherwise keep the request from
// being sent.
const (
	// FaultLatency holds the call up for a while, and then lets it go on.
	FaultLatency FaultKind = "latency"
	// FaultError ends in an error that says nothing but its message.
	FaultError FaultKind = "error"
	// FaultRefused ends as if nobody listened on the port: the request is
	// known to be unsent.
	FaultRefused FaultKind = "refused"
	// FaultReset ends as if the connection had been reset while waiting for
	// the answer: whether the request was processed is not known.
	FaultReset FaultKind = "reset"
	// FaultTimeout ends as if a read had timed out. How long that took is its
	// Latency.
	FaultTimeout FaultKind = "timeout"
	// FaultStatus answers with a status of its own.
	FaultStatus FaultKind = "status"
	// FaultTruncated sends the request, and lets the body of the answer end
	// too early.
	FaultTruncated FaultKind = "truncated"
	// FaultStalled sends the request, and lets the body of the answer fall
	// silent until it is closed or the call's context ends.
	FaultStalled FaultKind = "stalled"
	// FaultBlackHole never answers: the call lasts until its context ends.
	FaultBlackHole FaultKind = "black_hole"
)

// FaultKinds returns every kind there is.
func FaultKinds() []FaultKind {
	return []FaultKind{
		FaultLatency, FaultError, FaultRefused, FaultReset, FaultTimeout,
		FaultStatus, FaultTruncated, FaultStalled, FaultBlackHole,
	}
}

// FaultMatch says which calls may have a [Fault]. All that is set must fit;
// what is not set fits every call.
type FaultMatch struct {
	// Host is the host that is called, as it stands in the URL; one without a
	// port fits every port, and *.example.com every host below example.com.
	Host string `json:"host,omitempty" yaml:"host,omitempty"`
	// Methods are the HTTP methods.
	Methods []string `json:"method,omitempty" yaml:"method,omitempty"`
	// Route is the path of the URL: /v1/charges/{id} or /static/{rest...}. A
	// gRPC method is a route, too: /inventory.v1.Stock/Get.
	Route string `json:"route,omitempty" yaml:"route,omitempty"`
	// Header is the name of a header that the request has, so that the calls
	// of one test alone can have the fault; Value is its value, any if empty.
	Header string `json:"header,omitempty" yaml:"header,omitempty"`
	Value  string `json:"value,omitempty" yaml:"value,omitempty"`
}

// Latency says how long calls are held up.
type Latency struct {
	// Distribution is fixed (the default), uniform, normal or exponential.
	Distribution string `json:"distribution,omitempty" yaml:"distribution,omitempty"`
	// Mean is the latency itself where it is fixed, and the mean of a normal
	// or exponential one before its bounds are put on. A uniform one has none.
	Mean time.Duration `json:"mean,omitempty" yaml:"mean,omitempty"`
	// Deviation is the standard deviation of a normal latency.
	Deviation time.Duration `json:"deviation,omitempty" yaml:"deviation,omitempty"`
	// Min and Max bound what is drawn; what lies beyond is cut off the
	// distribution, not moved to its ends. Max is required of a uniform
	// latency; 0 means ten times the mean of the others.
	Min time.Duration `json:"min,omitempty" yaml:"min,omitempty"`
	Max time.Duration `json:"max,omitempty" yaml:"max,omitempty"`
}

// The distributions of a [Latency].
const (
	LatencyFixed       = "fixed"
	LatencyUniform     = "uniform"
	LatencyNormal      = "normal"
	LatencyExponential = "exponential"
)

// MaxFaultLatency is the longest time that a [Latency] may hold a call up. A
// [FaultBlackHole] has no bound of its own.
const MaxFaultLatency = time.Hour

// Active reports whether the fault is on at now: From is part of its time,
// Until is not.
func (f *Fault) Active(now time.Time) bool {
	return !now.Before(f.From) && (f.Until.IsZero() || now.Before(f.Until))
}

// Bounds returns the shortest and the longest latency there can be.
func (l Latency) Bounds() (shortest, longest time.Duration) {
	switch {
	case l.Distribution == "" || l.Distribution == LatencyFixed:
		return l.Mean, l.Mean
	case l.Max == 0:
		return l.Min, min(10*l.Mean, MaxFaultLatency)
	default:
		return l.Min, l.Max
	}
}
