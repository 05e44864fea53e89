package backstay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Report tells, after a call, what the call went through. Ask for one with
// [WithReport], make one call with the context, then read [Report.Summary].
// A Report belongs to one call at a time; a second call starts it anew. Its
// methods may be called from several goroutines.
type Report struct {
	mu   sync.Mutex
	s    Summary
	over bool // the call has ended: what late copies still note is dropped
}

// Summary is what a [Report] tells.
type Summary struct {
	// Attempts is how many attempts were sent, hedged copies not counted; an
	// attempt that was rejected before sending is not one.
	Attempts int
	// Waits are the waits between attempts, in order.
	Waits []time.Duration
	// Outcome is that of what the caller got.
	Outcome Outcome
	// Reason says why the call ended as it did: why it was not retried, or
	// what rejected it. Empty after a success.
	Reason Reason
	// Copies is how many hedged copies were sent beside the first; Winner is
	// the number of the copy that answered (the first is 1; 0: no hedging).
	Copies, Winner int
	// Degraded is true where a fallback answered; Rung names it, Cause is the
	// failure that it stands in for, Age how old a cached value is.
	Degraded bool
	Rung     string
	Cause    error
	Age      time.Duration
	// Key is the idempotency key that the attempts carried.
	Key string
	// Injected names the faults that were injected into the attempts on
	// purpose, in order (see middleware/chaos).
	Injected []string
	// Elapsed is the time from the start of the call to its answer.
	Elapsed time.Duration
}

type reportKey struct{}

// WithReport returns a context whose next call fills the Report. Calls that are
// made within that call are not part of it.
func WithReport(ctx context.Context) (context.Context, *Report) {
	r := new(Report)
	return context.WithValue(ctx, reportKey{}, r), r
}

// ReportFrom returns the Report of ctx, or nil.
func ReportFrom(ctx context.Context) *Report {
	r, _ := ctx.Value(reportKey{}).(*Report)
	return r
}

// WithoutReport returns a context that hides the Report of ctx. It is for
// pipelines: what is called in an attempt may make calls of its own, which are
// none of the Report's. [NoteAttempt] still finds it.
func WithoutReport(ctx context.Context) context.Context {
	return context.WithValue(ctx, reportKey{}, hidden{ReportFrom(ctx)})
}

// hidden is a Report that the calls made within an attempt do not see.
type hidden struct{ *Report }

// Note changes the summary of ctx's Report, if it has one and its call is not
// over. It is for policies; f must not keep the pointer.
func Note(ctx context.Context, f func(*Summary)) {
	if r := ReportFrom(ctx); r != nil {
		r.Note(f)
	}
}

// NoteAttempt is [Note] for what stands inside of a pipeline, at the end of an
// attempt, where the Report of the call is hidden.
func NoteAttempt(ctx context.Context, f func(*Summary)) {
	if r, ok := ctx.Value(reportKey{}).(hidden); ok {
		r.Note(f)
		return
	}
	Note(ctx, f)
}

// Begin starts the Report anew for a call. It is for pipelines. A nil Report
// is left alone.
func (r *Report) Begin() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.s, r.over = Summary{}, false
}

// Note changes the summary, unless the call is over. It is for policies; f
// must not keep the pointer. A nil Report is left alone.
func (r *Report) Note(f func(*Summary)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		f(&r.s)
	}
}

// End closes the Report with f: later notes are dropped. It is for pipelines.
// A nil Report is left alone.
func (r *Report) End(f func(*Summary)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.s)
	r.over = true
}

// Summary returns a copy of what is known so far.
func (r *Report) Summary() Summary {
	if r == nil {
		return Summary{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.s
	s.Waits = slices.Clone(s.Waits)
	s.Injected = slices.Clone(s.Injected)
	return s
}

// String tells the summary in one line.
func (r *Report) String() string { return r.Summary().String() }

// String tells the summary in one line, for example
// "success after 2 attempts (waited 42ms)".
func (s Summary) String() string {
	if s.Elapsed == 0 && s.Attempts == 0 && s.Reason == "" && !s.Degraded {
		return "no call was made"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %d attempt", s.Outcome.Class, s.Attempts)
	if s.Attempts != 1 {
		b.WriteByte('s')
	}
	var waited time.Duration
	for _, w := range s.Waits {
		waited += w
	}
	if waited > 0 {
		fmt.Fprintf(&b, " (waited %v)", waited.Round(time.Millisecond))
	}
	if s.Reason != "" {
		fmt.Fprintf(&b, ", %s", s.Reason)
	}
	if s.Winner > 1 {
		fmt.Fprintf(&b, ", copy %d won", s.Winner)
	}
	if s.Degraded {
		fmt.Fprintf(&b, ", degraded: %s", s.Rung)
		if s.Age > 0 {
			fmt.Fprintf(&b, ", %v old", s.Age.Round(time.Millisecond))
		}
	}
	if len(s.Injected) > 0 {
		fmt.Fprintf(&b, ", injected: %s", strings.Join(s.Injected, " "))
	}
	return b.String()
}
