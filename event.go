package backstay

import (
	"context"
	"slices"
	"time"
)

// Kind says what an [Event] tells of. Its value is the name used in logs.
type Kind string

const (
	// CallStarted begins a call. Only a [Tracer] sees it.
	CallStarted Kind = "call started"
	// CallDone ends a call: Outcome, Err, Attempt (how many were made), Copy
	// (which one answered, if any was hedged), Elapsed, Reason, Rung.
	CallDone Kind = "call done"
	// AttemptStarted begins one attempt or hedged copy. Only a [Tracer] sees it.
	AttemptStarted Kind = "attempt started"
	// AttemptDone ends one attempt or hedged copy that was sent: Attempt,
	// Copy, Outcome, Err, Elapsed (from permit to answer).
	AttemptDone Kind = "attempt done"
	// RetryPlanned says that another attempt will follow after Wait; Outcome
	// and Err are those of the attempt before, Attempt is its number.
	RetryPlanned Kind = "retry planned"
	// RetrySuppressed says that a retryable failure is not retried, and why:
	// Reason, Attempt, Outcome, Err, and Wait where that did not fit.
	RetrySuppressed Kind = "retry suppressed"
	// CallRejected is a refusal before sending: Reason, Err, Wait (the time
	// after which another call may be admitted; 0 if unknown).
	CallRejected Kind = "call rejected"
	// BreakerChanged is a breaker's change of state: From, To, Reason, and Wait
	// (how long it stays open) where it opened.
	BreakerChanged Kind = "breaker changed"
	// HedgeStarted says that copy Copy of an attempt was sent after Wait.
	HedgeStarted Kind = "hedge started"
	// HedgeDone says how copy Copy of a hedged attempt ended: Reason is won,
	// lost or cancelled; Outcome, Err, Elapsed.
	HedgeDone Kind = "hedge done"
	// FallbackUsed says that rung Rung answered instead; Err is the cause,
	// Outcome that of the call.
	FallbackUsed Kind = "fallback used"
	// LimitChanged is a new limit of an adaptive bulkhead: Limit.
	LimitChanged Kind = "limit changed"
	// HeaderIgnored counts an incoming header that could not be used: Reason
	// names the header, Err says why.
	HeaderIgnored Kind = "header ignored"
	// PipelineEvicted says that the state of one key was given up.
	PipelineEvicted Kind = "pipeline evicted"
	// FaultInjected says that a fault was put into an attempt on purpose:
	// Reason is the fault's name, Err tells what it does, Wait is the latency
	// that comes with it (see middleware/chaos).
	FaultInjected Kind = "fault injected"
	// CallbackPanicked says that a user's callback panicked; Err tells how.
	CallbackPanicked Kind = "callback panicked"
)

// What happens to actors: Policy is the type, Key the partition, Operation the
// method, Attempt the number of the attempt.
const (
	// StepDone ends a link of a chain: Outcome, Err, Elapsed.
	StepDone Kind = "step done"
	// StepFailed is an attempt that failed: Err. It is repeated after Wait, unless
	// it was the last, which has none.
	StepFailed Kind = "step failed"
	// RequestGivenUp is a request that ended without its method: Reason, and Err,
	// which names the actor and the request, and what failed last.
	RequestGivenUp Kind = "request given up"
	// DeadLetter says that a request that was given up is written to the dead
	// letters: Reason.
	DeadLetter Kind = "dead letter"
	// PartitionOwned says that a takeover succeeded, after Elapsed.
	PartitionOwned Kind = "partition owned"
	// TakeoverPhase is one phase of a takeover that has succeeded, after Elapsed:
	// Reason is [ReasonSnapshot], [ReasonReplay] or [ReasonFence].
	TakeoverPhase Kind = "takeover phase"
	// PartitionLost says that an owner gave up, or was replaced: Err. Without Err
	// the node has given the partition up itself: it stops, or another is to have it.
	PartitionLost Kind = "partition lost"
	// PartitionRefused says that a partition cannot be owned by this program, or
	// not yet: Err. A claim that goes on failing is told of as LogFailed is.
	PartitionRefused Kind = "partition refused"
	// RecordSkipped is a record of a log that cannot be read: Err.
	RecordSkipped Kind = "record skipped"
	// OutputLost is a message that can never be delivered: Err.
	OutputLost Kind = "output lost"
	// LogFailed is an append, a send or a read that failed, of a log, a topic, or
	// the store of actors' values: Err. What is to be done again will be. One that
	// goes on failing is told of when its cause is another one, else once a minute.
	LogFailed Kind = "log failed"
	// OutboxCongested says that what waits for a destination exceeds its bound,
	// Err says which; without Err it no longer does.
	OutboxCongested Kind = "outbox congested"
	// PassivationFailed says that an instance was dropped though its Passivate
	// returned an error: Err.
	PassivationFailed Kind = "passivation failed"
	// SnapshotSaved and SnapshotFailed end a snapshot: Elapsed, Err. One that goes
	// on failing is told of as LogFailed is.
	SnapshotSaved  Kind = "snapshot saved"
	SnapshotFailed Kind = "snapshot failed"
)

// Reason says why: why a call was not retried, was rejected, or ended as it
// did. Its values are those of the telemetry attributes.
type Reason string

// Why a call ended, or was not retried.
const (
	ReasonExhausted     Reason = "exhausted"      // MaxAttempts were made
	ReasonBudgetEmpty   Reason = "budget_empty"   // the retry budget refused
	ReasonNoTime        Reason = "no_time"        // the next wait does not fit into what is left, or the total passed
	ReasonNotRepeatable Reason = "not_repeatable" // the request must not be sent twice
	ReasonDoNotRetry    Reason = "do_not_retry"   // the server, or the failure itself, asked for it
	ReasonNested        Reason = "nested"         // a layer above retries already
	ReasonCanceled      Reason = "canceled"       // the caller cancelled, or its deadline passed
)

// Why a call was rejected before sending.
const (
	ReasonBreakerOpen  Reason = "breaker_open"
	ReasonBulkheadFull Reason = "bulkhead_full"
	ReasonRateLimited  Reason = "rate_limited"
	ReasonTooLate      Reason = "too_late"
	ReasonClosed       Reason = "closed"
)

// How a hedged copy ended.
const (
	ReasonHedgeWon       Reason = "won"
	ReasonHedgeLost      Reason = "lost"
	ReasonHedgeCancelled Reason = "cancelled"
)

// Why an actor's request ended without its method.
const (
	ReasonExpired     Reason = "expired"
	ReasonMailboxFull Reason = "mailbox_full"
	ReasonPoison      Reason = "poison"
	ReasonDeadlock    Reason = "deadlock"
	ReasonNoMethod    Reason = "no_method"
)

// The phases of a takeover: the state is loaded, the log is read to its end,
// the new owner's epoch is put on record.
const (
	ReasonSnapshot Reason = "snapshot"
	ReasonReplay   Reason = "replay"
	ReasonFence    Reason = "fence"
)

// Event is one thing that happened. Which fields are set depends on Kind; an
// Event is a value, so handing it to an Observer allocates nothing.
type Event struct {
	Kind Kind
	// Policy is the name of the pipeline or policy; Key the one of its
	// instances (a host, a method); Operation a bounded name for what was
	// called, if the caller gave one.
	Policy, Key, Operation string
	// Attempt counts from 1; Copy is 1 for the first copy of an attempt.
	Attempt, Copy int
	Outcome       Outcome
	Err           error
	Reason        Reason
	// Rung is the name of the fallback that answered.
	Rung string
	// From and To are breaker states.
	From, To string
	// Limit is a bulkhead's new limit.
	Limit int64
	// Wait is a wait before something; Elapsed the time something took.
	Wait, Elapsed time.Duration
}

// Observer is told what happens. Observe runs on the goroutine that caused the
// event, outside every lock; it must be quick, may be called from several
// goroutines at once, and may panic without harm.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// ObserverFunc makes a function an Observer.
type ObserverFunc func(ctx context.Context, e Event)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// Tracer is implemented by an [Observer] that wants to put something, such as
// a span, into the context of a call and of each of its attempts. Start gets
// an event of kind CallStarted or AttemptStarted and returns the context to go
// on with, and a function that is called with the matching CallDone or
// AttemptDone. Whether an Observer is a Tracer is asked once, when a pipeline
// is made.
type Tracer interface {
	Start(ctx context.Context, e Event) (context.Context, func(Event))
}

// Observers joins several observers into one, called in order. Nil ones are
// left out; if any is a [Tracer], so is the result.
func Observers(all ...Observer) Observer {
	var set observers
	var tracers tracing
	for _, o := range all {
		if o == nil {
			continue
		}
		set = append(set, o)
		if t, ok := o.(Tracer); ok {
			tracers = append(tracers, t)
		}
	}
	switch {
	case len(set) == 0:
		return nil
	case len(set) == 1:
		return set[0]
	case len(tracers) == 0:
		return set
	default:
		return struct {
			observers
			tracing
		}{set, tracers}
	}
}

type observers []Observer

// Observe tells all of them, also those behind one that panics.
func (s observers) Observe(ctx context.Context, e Event) {
	if len(s) > 1 {
		defer s[1:].Observe(ctx, e)
	}
	s[0].Observe(ctx, e)
}

type tracing []Tracer

func (s tracing) Start(ctx context.Context, e Event) (context.Context, func(Event)) {
	ends := make([]func(Event), 0, len(s))
	for _, t := range s {
		var end func(Event)
		ctx, end = t.Start(ctx, e)
		ends = append(ends, end)
	}
	return ctx, func(e Event) {
		for _, end := range slices.Backward(ends) {
			end(e)
		}
	}
}
