package runtime

import (
	"time"

	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// EventKind says what an [Event] tells of. A failure that comes again and again,
// as what is tried again may, is told when it begins, when its cause is another
// one, and then once a minute.
type EventKind string

const (
	// PartitionOwned: a claim succeeded. Epoch, Elapsed (of the claim), Takeover.
	PartitionOwned EventKind = "partition owned"
	// PartitionLost: an incarnation ended. Epoch, Err says why; nil if it was
	// handed over, or Stop cut it short.
	PartitionLost EventKind = "partition lost"
	// ClaimFailed: a claim did not succeed and will be tried again: Err.
	ClaimFailed EventKind = "claim failed"
	// ClaimRefused: this program must not own the partition: Err.
	ClaimRefused EventKind = "claim refused"
	// MethodDone: an attempt ended. Method, Actor, Attempt, Outcome, Code and Err
	// (of a failure), Elapsed, Tell.
	MethodDone EventKind = "method done"
	// AttemptFailed: an attempt failed and was recorded. Method, Actor, Attempt,
	// Err, Wait (unless it was the last).
	AttemptFailed EventKind = "attempt failed"
	// RequestGivenUp: a request ended without its method: Outcome, Code, Method,
	// Actor, ID, and Err, which says which it was and why.
	RequestGivenUp EventKind = "request given up"
	// DeadLetter: a request was given up, and a letter of it is written: Actor,
	// Method, ID, Code.
	DeadLetter EventKind = "dead letter"
	// LoadFailed: the cells of an actor could not be loaded, and are tried again:
	// Actor, Err, Wait.
	LoadFailed EventKind = "load failed"
	// ReminderFired: Actor, Name.
	ReminderFired EventKind = "reminder fired"
	// AppendFailed: an append, a send or a read failed. What is to be done again
	// is, after Wait; Name is the destination of a send.
	AppendFailed EventKind = "append failed"
	// OutputLost: an output was given up, or a message reached nobody: Err.
	OutputLost EventKind = "output lost"
	// RecordSkipped: a record of the log could not be decoded: Offset, Err.
	RecordSkipped EventKind = "record skipped"
	// SnapshotSaved: Offset, Elapsed.
	SnapshotSaved EventKind = "snapshot saved"
	// SnapshotFailed: it, or the truncation of the log below one that was saved,
	// will be tried again: Err.
	SnapshotFailed EventKind = "snapshot failed"
	// HookPanicked: an Activate, Passivate or Read panicked, or a Map, which may also
	// have ended its goroutine: Err.
	HookPanicked EventKind = "hook panicked"
	// Congested: outputs to a destination exceed OutboxBytes, or no longer do
	// (Outcome unused): Name is the destination, Err nil when it is over.
	Congested EventKind = "congested"
)

// Event is one thing that happened; which fields are set depends on Kind.
type Event struct {
	Kind          EventKind
	Partition     record.Partition
	Epoch         uint64
	Actor, Method string
	Name          string
	ID            record.ID
	Attempt       uint64
	Outcome       record.Outcome
	Code          string
	Tell          bool
	Offset        int64
	Err           error
	Wait, Elapsed time.Duration
	Takeover      *inspect.Takeover // not to be changed
}
