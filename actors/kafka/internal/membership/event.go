package membership

import "fmt"

// Kind says what an [Event] is about.
type Kind uint8

// The kinds of events.
const (
	// Joined: the group has given this node its share.
	Joined Kind = iota + 1
	// Removed: the group does not know this node any more; it joins as new.
	Removed
	// Suspected: a member was not heard for too long.
	Suspected
	// Recovered: a member that was suspect is heard again.
	Recovered
	// Evicted: this node has removed a member from the group.
	Evicted
	// Stopped: this process did not run for a while.
	Stopped
	// LeaseLost: what is assigned counts as nothing until the group answers.
	LeaseLost
	// LeaseHeld: it counts again.
	LeaseHeld
	// EvictionFailed: the group could not be looked at, or a member not be
	// removed. It is tried again, if there is reason to.
	EvictionFailed
	// BeatFailed: a beat could not be written.
	BeatFailed
	// ReadFailed: the beats could not be read.
	ReadFailed
	// GroupFailed: the group's coordinator could not be asked.
	GroupFailed
	// Restored: what has failed before, of the last four, succeeds again;
	// Reason says which.
	Restored
)

var kindNames = [...]string{
	Joined:         "joined",
	Removed:        "removed",
	Suspected:      "suspected",
	Recovered:      "recovered",
	Evicted:        "evicted",
	Stopped:        "stopped",
	LeaseLost:      "lease lost",
	LeaseHeld:      "lease held",
	EvictionFailed: "eviction failed",
	BeatFailed:     "beat failed",
	ReadFailed:     "read failed",
	GroupFailed:    "group failed",
	Restored:       "restored",
}

// String returns, for example, "suspected".
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// Event is something that happened to the membership.
type Event struct {
	Kind Kind
	// Instance is the instance id of the member that it is about.
	Instance string
	// Err is why something failed; nil for the rest.
	Err error
	// Reason is, of Evicted, "suspect" for a member that fell silent and "ghost"
	// for one that was not heard since this node came; of Removed, what the group
	// has answered; of Restored, the kind of failure that has
	// ended. It is empty for the rest.
	Reason string
}

// String is for logs.
func (e Event) String() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Instance, e.Kind, e.Err)
	}
	if e.Reason != "" {
		return fmt.Sprintf("%s: %s: %s", e.Instance, e.Kind, e.Reason)
	}
	return fmt.Sprintf("%s: %s", e.Instance, e.Kind)
}

// trouble tells failures of one kind, and when they have ended. It is for one
// goroutine.
type trouble struct {
	now  bool
	tell func(error) // nil: it has ended
}

func (t *trouble) note(err error) {
	if err == nil && !t.now {
		return
	}
	t.now = err != nil
	t.tell(err)
}
