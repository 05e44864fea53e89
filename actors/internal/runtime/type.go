package runtime

import (
	"context"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Type is a type of actors that this process hosts.
type Type struct {
	// Name is that of the type, and of its log.
	Name string
	// Methods are announced to the other members by these names.
	Methods map[string]Method
	// Activate makes the instance of an actor before its first method on this
	// host, and again after it was passivated or lost. nil: there is none. An
	// End that is not nil ends the request instead of its method (A7).
	Activate func(ctx context.Context, a *Attempt) (instance any, failed *End)
	// Passivate is told that an instance is no longer used: the actor was
	// idle, was cleared, or the partition is handed over. It is not called for
	// a partition that was lost. nil: nobody is told.
	Passivate func(ctx context.Context, actor string, instance any)
	// Ingests are the ordinary topics that the owners of the type take in.
	Ingests []Ingest
	Settings

	methods map[string]*Method // Methods, by name
}

// Method is one method of a type; exactly one of its fields is set.
type Method struct {
	// Run is an ordinary method. It is called on a goroutine of its own. ctx
	// has the deadline of the request, or, once that is past, in a tail link
	// and where there is none, the type's StepTimeout (A68); it is cancelled
	// when the partition is lost (A47). A panic is a failed attempt (A45).
	Run func(ctx context.Context, a *Attempt) End
	// Read is a shared method: it sees the cells as of one moment, changes
	// nothing and runs beside all others.
	Read func(ctx context.Context, v *Reading) record.Result
	// Opens makes the method a latch where it is tail-called on its own actor: it
	// begins when a request for one of these methods waits behind it.
	Opens []string
	// Bare: it runs without the actor's instance.
	Bare bool

	name string
}

// End is how a method ended. The zero End is an end without a value.
type End struct {
	// Outcome is record.End, record.TailSelf or record.TailOther.
	Outcome record.Outcome
	// Result is that of record.End. A failure discards what was buffered since
	// the last record (A83).
	Result record.Result
	// Tail is the next link. Of its target only Type and Actor need be set,
	// and neither for record.TailSelf.
	Tail *record.Call
	// Retry, if not nil, makes this a failed attempt; the rest is ignored.
	Retry *Retry
}

// Retry says why an attempt failed, and when the next may start.
type Retry struct {
	Reason string
	// Code is that of the error, if it is registered.
	Code string
	// After is the wait before the next attempt; 0 means the type's Backoff.
	After time.Duration
}

// Settings bound the actors of a type. Zero means the default.
type Settings struct {
	// MaxAttempts bounds the attempts of a link, 5. What failed more often ends
	// as poison: an error for its caller, and a dead letter.
	MaxAttempts uint64
	// Backoff is the wait before the attempt after that many failed ones;
	// 100 ms doubled each time up to 10 s, with full jitter, where it is nil.
	Backoff func(failed uint64) time.Duration
	// StepTimeout is the time of an attempt whose request has no deadline
	// ahead, 30 s. Negative means none.
	StepTimeout time.Duration
	// IdleAfter is how long an instance without work stays, 10 min. Negative
	// means for ever.
	IdleAfter time.Duration
	// BusyAfter is how long a call waits behind one and the same request
	// before it is given up with [CodeDeadlock], 30 s. Negative means for ever.
	BusyAfter time.Duration
	// Mailbox bounds the requests of one actor, 10,000. Negative means no bound.
	Mailbox int
	// Depth bounds how deep calls nest, 64.
	Depth int
	// CancelOrphans cancels what the attempts of a dead owner had called and
	// what has not begun (A69).
	CancelOrphans bool
	// StrictBegin records the begin of every request that has a deadline before
	// it runs, so that "expired" always means "never ran".
	StrictBegin bool
}

// The defaults of [Settings].
const (
	DefaultMaxAttempts = 5
	DefaultStepTimeout = 30 * time.Second
	DefaultIdleAfter   = 10 * time.Minute
	DefaultBusyAfter   = 30 * time.Second
	DefaultMailbox     = 10_000
	DefaultDepth       = 64
)

// Codes of the failures that the runtime makes, beside those of the machine.
const (
	// CodeExpired: the deadline passed before the request began.
	CodeExpired = "expired"
	// CodeCancelled: the caller's attempt is gone, and the request had not begun.
	CodeCancelled = "cancelled"
	// CodeRefused: the actor's mailbox is full.
	CodeRefused = "mailbox_full"
	// CodePoison: it failed as often as MaxAttempts allows.
	CodePoison = "poison"
	// CodeDeadlock: it waited longer than BusyAfter behind one request. Detail
	// has the chain, one line an element, from the request outwards.
	CodeDeadlock = "deadlock"
	// CodeNoMethod: no live member has this method.
	CodeNoMethod = "no_method"
	// CodeNoType: there is no log for this type.
	CodeNoType = "no_type"
	// CodeTooLarge: a record or message is larger than the log takes.
	CodeTooLarge = "too_large"
)
