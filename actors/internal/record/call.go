package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// Call is a request that an owner makes: a nested call, a tell, what a
// reminder will send, what an ingested message becomes.
type Call struct {
	ID     ID
	Target Address
	// TTL bounds the start, from the append of the record on that carries the
	// call; Deadline is the same by the owner's clock, for logs that have no
	// append time.
	Deadline, TTL int64
	NotBefore     int64
	Method        string
	Args          []byte
	// Name tells apart the calls of one link: the caller's own name for it or
	// its ordinal. The child's key is derived from it.
	Name string
	// Baggage, if not empty, replaces the parent's.
	Baggage []byte
	Kept    codec.Kept
}

// Fields describes c.
func (c *Call) Fields(w *codec.Walker) {
	w.Keep(&c.Kept)
	w.Fixed(1, (*[16]byte)(&c.ID))
	w.Message(2, &c.Target)
	w.Int(3, &c.Deadline)
	w.Int(4, &c.TTL)
	w.Int(5, &c.NotBefore)
	w.Borrowed(6, &c.Method)
	w.Bytes(7, &c.Args)
	w.Borrowed(8, &c.Name)
	w.Bytes(9, &c.Baggage)
}

// Delta is what an invocation changes of its own actor.
type Delta struct {
	// Clear removes the actor's cells and reminders first.
	Clear     bool
	Cells     []Cell
	Reminders []Reminder
	Kept      codec.Kept
}

// Fields describes d.
func (d *Delta) Fields(w *codec.Walker) {
	w.Keep(&d.Kept)
	w.Bool(1, &d.Clear)
	codec.List(w, 2, &d.Cells)
	codec.List(w, 3, &d.Reminders)
}

// Cell is one value of an actor's persisted state. Name must not be empty.
type Cell struct {
	Name    string
	Value   []byte
	Removed bool
}

// Fields describes c; it is closed.
func (c *Cell) Fields(w *codec.Walker) {
	w.Borrowed(1, &c.Name)
	w.Bytes(2, &c.Value)
	w.Bool(3, &c.Removed)
}

// Reminder is a durable alarm of an actor. Name must not be empty.
type Reminder struct {
	Name string
	// Next is when it is due; 0 removes it.
	Next int64
	// Period is for the owner, who computes the tick after the next: a
	// duration or a cron line. The state machine does not look at it.
	Period string
	Method string
	Args   []byte
	// Baggage travels with what is fired.
	Baggage []byte
	Kept    codec.Kept
}

// Fields describes r.
func (r *Reminder) Fields(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.String(1, &r.Name)
	w.Int(2, &r.Next)
	w.String(3, &r.Period)
	w.String(4, &r.Method)
	w.Bytes(5, &r.Args)
	w.Bytes(6, &r.Baggage)
}
