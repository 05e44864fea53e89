package membership

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// beat is what a member writes to the topic of the members, as JSON. Fields are
// only ever added, and never change their meaning: members of several versions
// of a program live in one group, and each must see that the others do.
type beat struct {
	// Version is the format's; 1.
	Version int `json:"v"`
	// ID is the instance id under which the member is in the group.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Seq counts the beats of an instance, for people who read the topic.
	Seq uint64 `json:"seq"`
	// Every is the interval in milliseconds after which the next one is due.
	Every int64 `json:"every"`
	// Sent is when it was sent, by a clock that only its sender can read.
	Sent int64 `json:"sent"`
	// Gone says that this is the last one of this instance.
	Gone    bool                `json:"gone,omitempty"`
	Address string              `json:"address,omitempty"`
	Methods map[string][]string `json:"methods,omitempty"`
}

// version is that of the format.
const version = 1

func (b *beat) encode() []byte {
	data, _ := json.Marshal(b) // of such fields it never fails
	return data
}

var errNoBeat = errors.New("membership: not a beat")

func decodeBeat(data []byte) (*beat, error) {
	b := new(beat)
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoBeat, err)
	}
	if b.Version < version || b.ID == "" {
		return nil, errNoBeat
	}
	return b, nil
}

// Bounds of the interval that a beat may announce: nobody's judgement is spoilt
// by another's nonsense.
const (
	shortest = 10 * time.Millisecond
	longest  = 10 * time.Second
)

// interval is the one announced, within bounds.
func (b *beat) interval() time.Duration {
	every := min(max(b.Every, shortest.Milliseconds()), longest.Milliseconds())
	return time.Duration(every) * time.Millisecond
}

// spacing is the share of a large group's time that one member's beat takes:
// together they write 100 beats a second at most.
const spacing = 10 * time.Millisecond

// pace is the interval of beats in a group of n: every, longer if they are many.
func pace(every time.Duration, n int) time.Duration {
	return min(max(every, time.Duration(n)*spacing), longest)
}
