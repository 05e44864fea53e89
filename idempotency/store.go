package idempotency

import (
	"context"
	"time"
)

// Store remembers which keys are being worked on and what the answers were.
// Each method is one atomic step. Implementations pass the suite of package
// idempotencytest; [Memory] is one. All methods may be called from many
// goroutines at once, honour ctx (one that is done has no effect and returns
// its error), and keep none of the slices that they are given or give away.
// Leases and retentions are positive.
//
// A key has an owner from Begin until Complete or Release, or until its lease
// has passed. Renew, Complete and Release by anybody else, also by an owner
// whose lease has passed, return an error that matches [ErrLeaseLost] and
// change nothing.
type Store interface {
	// Begin claims a free key for a lease, or tells what is known about it. A
	// key that was used with another fingerprint is Mismatched, whatever else
	// it is. Begin again by the owner of a key in flight is Started and renews
	// the lease: an answer that was lost may be asked for again. A store
	// without room for a new key returns an error that matches [ErrStoreFull];
	// it never drops a record that is still alive.
	Begin(ctx context.Context, c Claim, f Fingerprint, lease time.Duration) (Result, error)
	// Renew makes the lease end after the given time from now.
	Renew(ctx context.Context, c Claim, lease time.Duration) error
	// Complete ends the work and keeps r for the given time from now. Complete
	// again by the same owner returns nil and changes nothing. An answer too
	// many returns an error that matches [ErrStoreFull]; the key stays in
	// flight, and a Record that is Omitted must still be accepted for it.
	Complete(ctx context.Context, c Claim, r Record, retention time.Duration) error
	// Release ends the work without a record: the key is free.
	Release(ctx context.Context, c Claim) error
}

// Waiter is implemented by a [Store] that can tell when a key in flight is
// not in flight any longer. A [Guard] polls a store that is none.
type Waiter interface {
	// Wait returns nil as soon as key is not in flight: completed, released,
	// its lease passed, or never begun. It may return earlier; callers ask
	// Begin again. Otherwise it returns the error of ctx.
	Wait(ctx context.Context, key string) error
}

// Token tells one owner of a key from another. It is random, a new one for
// every piece of work.
type Token [16]byte

// Claim is an owner's hold on a key.
type Claim struct {
	// Key is 1 to 255 characters of printable ASCII.
	Key string
	// Owner is who holds it.
	Owner Token
}

// Record is what is kept of work that was done.
type Record struct {
	// Answer is arbitrary bytes, given back as they are. Nil and empty are the
	// same.
	Answer []byte
	// Omitted says that the answer was not kept: only that the work was done.
	Omitted bool
}

// Result is the answer of [Store.Begin].
type Result struct {
	State State
	// Remaining is what is left of the lease of a key in flight; positive.
	Remaining time.Duration
	// Record is that of a completed key.
	Record Record
	// Unprotected says of a claim that Started that the store could not be
	// asked, and lets the work begin all the same. It is told once how such
	// work ends: whoever waits for the answer does not wait for a store that
	// fails.
	Unprotected bool
}

// State says what became of a claim.
type State uint8

const (
	// Started says that the key belongs to the claimant: do the work.
	Started State = iota + 1
	// InFlight says that somebody else is doing the work.
	InFlight
	// Completed says that the work was done; the record tells its answer.
	Completed
	// Mismatched says that the key was used for another request.
	Mismatched
)

var stateNames = [...]string{
	Started: "started", InFlight: "in flight", Completed: "completed", Mismatched: "mismatched",
}

// String returns the state in words, for example "in flight".
func (s State) String() string {
	if s >= Started && int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}
