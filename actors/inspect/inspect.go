// Package inspect has the words in which a node of actors tells how it is. They
// are plain data, so that whoever shows them, such as a console or a command,
// need not be able to run actors. Durations are nanoseconds in JSON.
package inspect

import "time"

// Node is how a process is that hosts actors, or calls them.
type Node struct {
	Name string `json:"name"`
	// Members are the names of the processes that own partitions now, as far as
	// this one knows, itself included; none if it hosts nothing.
	Members []string `json:"members,omitempty"`
	// Stopped says that the node was stopped, or drained: it hands over what it
	// still has of its partitions, and takes no more.
	Stopped bool `json:"stopped,omitempty"`
	// Partitions are those that it owns or claims, ordered by type and number.
	Partitions []Partition `json:"partitions"`
	// Calls are the root calls of this process that wait for an answer.
	Calls int `json:"calls"`
	// DeadLetters are those that this process has written since it began.
	DeadLetters uint64 `json:"dead_letters"`
}

// Phase is where the owner of a partition is.
type Phase string

// The phases of an owner.
const (
	Claiming Phase = "claiming"
	Owning   Phase = "owning"
	Draining Phase = "draining" // to hand it over
	Waiting  Phase = "waiting"  // to claim again
	Refused  Phase = "refused"  // this program must not own it
)

// Partition is how a partition is on its node.
type Partition struct {
	Type  string `json:"type"`
	Index uint32 `json:"index"`
	Phase Phase  `json:"phase"`
	// Epoch is the fencing token.
	Epoch uint64 `json:"epoch"`
	// Next is the offset of the next record to apply.
	Next int64 `json:"next"`
	// Requests wait or run, of so many Actors.
	Requests int `json:"requests"`
	Actors   int `json:"actors"`
	// Deepest is the id of the actor with the most requests, Depth how many.
	Deepest string `json:"deepest,omitempty"`
	Depth   int    `json:"depth,omitempty"`
	// Oldest is for how long the oldest request has waited or run.
	Oldest time.Duration `json:"oldest_ns"`
	// Methods run, or wait for others; Running are those of them that have done
	// so for longest, at most [MaxRunning].
	Methods int          `json:"methods"`
	Running []Invocation `json:"running,omitempty"`
	// Outputs wait to be forwarded.
	Outputs int `json:"outputs"`
	// Instances are active.
	Instances int `json:"instances"`
	// Takeover tells of the last claim that succeeded.
	Takeover Takeover `json:"takeover"`
	// Error is why it is not owned.
	Error string `json:"error,omitempty"`
}

// MaxRunning bounds the methods of one partition that are told.
const MaxRunning = 100

// Takeover is how long the phases of a takeover took.
type Takeover struct {
	// Assigned is when the partition was assigned to the node.
	Assigned time.Time `json:"assigned,omitzero"`
	// Snapshot, Replay and Fence are how long it took to load the snapshot, to
	// read to the end of the log, and to have the new epoch on record.
	Snapshot time.Duration `json:"snapshot_ns"`
	Replay   time.Duration `json:"replay_ns"`
	Fence    time.Duration `json:"fence_ns"`
	// Records were replayed.
	Records int `json:"records"`
}

// Invocation is a method that runs.
type Invocation struct {
	// ID is the actor's.
	ID     string `json:"id"`
	Method string `json:"method"`
	// RequestID is the same along a chain of tail calls, Link the number of the
	// link, from 0.
	RequestID string `json:"request_id"`
	Link      uint64 `json:"link"`
	Attempt   uint64 `json:"attempt"`
	// Since is for how long it has run.
	Since time.Duration `json:"since_ns"`
	// Waiting are the calls that it waits for, such as "account/bob.credit"; behind
	// it stands if no process that is alive hosts the type.
	Waiting []string `json:"waiting,omitempty"`
}

// Depth is how much waits in a partition that its node owns.
type Depth struct {
	Type  string `json:"type"`
	Index uint32 `json:"index"`
	// Requests wait in mailboxes, or run.
	Requests int `json:"requests"`
	// Oldest is for how long the oldest of them has.
	Oldest time.Duration `json:"oldest_ns"`
	// Outputs wait to be forwarded.
	Outputs int `json:"outputs"`
}
