package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// Void says why a record changed nothing; [Effective] if it did.
type Void string

// The reasons.
const (
	Effective     Void = ""
	VoidEpoch     Void = "another epoch"              // R1
	VoidNumber    Void = "not the next number"        // R4, R5
	VoidLink      Void = "no such link"               // R11, R25
	VoidCall      Void = "not the next call"          // H3
	VoidAttempt   Void = "not the next attempt"       // R34
	VoidIssued    Void = "children are out"           // R8, R36
	VoidBegun     Void = "it has begun"               // H7, R45, R46
	VoidUncalled  Void = "nobody cancelled it"        //
	VoidLate      Void = "its until is past"          // H2
	VoidKnown     Void = "a copy of a known request"  // H1
	VoidMisrouted Void = "the actor lives elsewhere"  //
	VoidFixed     Void = "what is fixed differs"      // 2.8
	VoidTick      Void = "not due"                    // R38, R39
	VoidPosition  Void = "not the next offset"        // R47, R48
	VoidNothing   Void = "nothing left to do"         //
	VoidForeign   Void = "no record of a log of this" // a letter to a plain topic
)

// Effects is what follows from a record. Slices and messages in it belong to
// the state and must not be changed; the slices are good until the next Apply.
type Effects struct {
	// Void is why the record changed nothing; the other fields may say
	// something still: an answer is emitted again.
	Void Void
	// Entered and Left are the requests that came into a mailbox or went out
	// of one; a tail-self does neither.
	Entered []*Entry
	Left    []Departure
	// Outputs are to be forwarded.
	Outputs []Output
	// Answers are to be emitted to clients.
	Answers []Answer
	// Arrivals are results for attempts that wait.
	Arrivals []Arrival
	// Changed are the actors whose cells changed.
	Changed []string
	// Reminders were set, moved or removed.
	Reminders []Due
	// Read is to be answered, by the owner, from the cells as of now or later.
	Read *record.Read
	// Alarms are worth a line in a log: nothing can be done.
	Alarms []Alarm
}

// Departure is a request that left its mailbox, and how.
type Departure struct {
	*Entry
	Outcome record.Outcome
}

// Answer is the end of a root, for its client.
type Answer struct {
	ID     record.ID
	Reply  string
	Result record.Result
}

// Arrival is the result of a nested call.
type Arrival struct {
	Parent, Child record.ID
	Result        record.Result
}

// Due is when a reminder is due; 0 if it was removed. Name is empty and ID set
// for a request that waits for its time.
type Due struct {
	Actor string
	Name  string
	ID    record.ID
	At    int64
}

// AlarmReason says what is wrong.
type AlarmReason string

// The reasons.
const (
	AlarmNoParent AlarmReason = "a response for a parent that is gone"
	AlarmNoChild  AlarmReason = "a response for a child that is not out"
	AlarmNoRoot   AlarmReason = "an answer for a root that is not open"
	AlarmTwice    AlarmReason = "a request with the id of a live one"
	AlarmLost     AlarmReason = "an output that nobody waits for could not be delivered"
)

// Alarm is something that must not happen, or cannot be mended.
type Alarm struct {
	Reason  AlarmReason
	ID      record.ID
	Message record.Message
}
