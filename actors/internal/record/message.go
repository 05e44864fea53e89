package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// ReturnKind says who waits for the result of a request.
type ReturnKind uint8

const (
	// ReturnNone is a tell's: nobody waits.
	ReturnNone ReturnKind = iota
	// ReturnParent is a nested call's.
	ReturnParent
	// ReturnClient is a root's.
	ReturnClient
)

// Return is the way back of a result. Tail calls hand it on.
type Return struct {
	Kind ReturnKind
	// Partition is that of the parent, or the home of a root: the partition
	// that accepted it, for ever (H1).
	Partition Partition
	// Parent is the request that called.
	Parent ID
	// Reply is where the client listens.
	Reply string
}

// Fields describes r; it is closed.
func (r *Return) Fields(w *codec.Walker) {
	w.Uint8(1, (*uint8)(&r.Kind))
	w.Message(2, &r.Partition)
	w.Fixed(3, (*[16]byte)(&r.Parent))
	w.Borrowed(4, &r.Reply)
}

// Tell reports whether nobody waits.
func (r Return) Tell() bool {
	return r.Kind == ReturnNone || r.Kind == ReturnClient && r.Reply == ""
}

// Failure is an error as it travels.
type Failure struct {
	// Code names a registered error, or one of the runtime's own.
	Code    string
	Message string
	Detail  []byte
	Kept    codec.Kept
}

// Fields describes f.
func (f *Failure) Fields(w *codec.Walker) {
	w.Keep(&f.Kept)
	w.String(1, &f.Code)
	w.String(2, &f.Message)
	w.Bytes(3, &f.Detail)
}

// Result is what a request ends with: a value or a failure.
type Result struct {
	Value   []byte
	Failure *Failure
	Kept    codec.Kept
}

// Fields describes r.
func (r *Result) Fields(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Bytes(1, &r.Value)
	codec.Optional(w, 2, &r.Failure)
}

// Message is what a partition puts into its outbox for another: a Request, a
// Response, Empty, or a Letter for an ordinary topic.
type Message interface {
	mail() Kind
	header(w *codec.Walker)
	payload(w *codec.Walker)
}

// Request is a request on its way, and in its mailbox.
type Request struct {
	Link
	Target Address
	// Deadline bounds the start, in the broker's time; 0 means none. A tail
	// link has none.
	Deadline int64
	// NotBefore makes a tell wait at its destination (0 means at once).
	NotBefore int64
	Method    string
	Args      []byte
	// Key is the idempotency key: the same in all retries of what calls,
	// while the id is fresh. A root without one has its id.
	Key       string
	Return    Return
	Ancestors []ID
	// Begun is true of what has left its mark in a log; it cannot expire.
	Begun bool
	// Missed counts the ticks of a reminder that this one stands for.
	Missed uint64
	// Baggage travels along the chain: trace, tenant, user.
	Baggage []byte
	Kept    codec.Kept
}

func (*Request) mail() Kind { return KindRequest }

// IdempotencyKey is the key, also of a root that was sent without one.
func (r *Request) IdempotencyKey() string {
	if r.Key != "" {
		return r.Key
	}
	return r.ID.String()
}

func (r *Request) header(w *codec.Walker) {
	w.Fixed(fieldID, (*[16]byte)(&r.ID))
	w.Int(fieldLife, &r.Life)
	w.Uint(fieldSeq, &r.Seq)
	w.Int(fieldDeadline, &r.Deadline)
	w.Int(fieldNotBefore, &r.NotBefore)
	w.Message(fieldTarget, &r.Target)
}

func (r *Request) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Borrowed(1, &r.Method)
	w.Bytes(2, &r.Args)
	w.String(3, &r.Key)
	w.Message(4, &r.Return)
	codec.Fixeds(w, 5, &r.Ancestors)
	w.Bool(6, &r.Begun)
	w.Uint(7, &r.Missed)
	w.Bytes(8, &r.Baggage)
}

// Response carries a result to the partition of the parent, or, if Parent is
// zero, the answer of the root Child to its home.
type Response struct {
	Child  ID
	Parent ID
	Reply  string
	Result Result
	Kept   codec.Kept
}

func (*Response) mail() Kind { return KindResponse }

func (r *Response) header(w *codec.Walker) {
	w.Fixed(fieldID, (*[16]byte)(&r.Child))
	w.Fixed(fieldParent, (*[16]byte)(&r.Parent))
}

func (r *Response) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.String(1, &r.Reply)
	w.Message(2, &r.Result)
}

// Empty has the number of an output that could not be delivered (H20).
type Empty struct{ Kept codec.Kept }

func (*Empty) mail() Kind                { return KindEmpty }
func (*Empty) header(*codec.Walker)      {}
func (e *Empty) payload(w *codec.Walker) { w.Keep(&e.Kept) }

// Letter is an output to an ordinary topic: a message of the application, or,
// if Dead is set, a dead letter.
type Letter struct {
	Key     string
	Value   []byte
	Headers []Attribute
	Dead    *Dead
	Kept    codec.Kept
}

func (*Letter) mail() Kind           { return KindLetter }
func (*Letter) header(*codec.Walker) {}

func (l *Letter) payload(w *codec.Walker) {
	w.Keep(&l.Kept)
	w.String(1, &l.Key)
	w.Bytes(2, &l.Value)
	codec.List(w, 3, &l.Headers)
	codec.Optional(w, 4, &l.Dead)
}

// Attribute is a header of a letter.
type Attribute struct {
	Name  string
	Value []byte
}

// Fields describes a; it is closed.
func (a *Attribute) Fields(w *codec.Walker) {
	w.String(1, &a.Name)
	w.Bytes(2, &a.Value)
}

// Dead says what became of a request that nobody will run any more.
type Dead struct {
	Reason   string
	Request  Request
	Queued   int64 // when it came into its mailbox
	At       int64 // when it was given up
	Attempts uint64
	Message  string // says more, for people
	Kept     codec.Kept
}

// Fields describes d.
func (d *Dead) Fields(w *codec.Walker) {
	w.Keep(&d.Kept)
	w.String(1, &d.Reason)
	w.Part(2, d.Request.header)
	w.Part(3, d.Request.payload)
	w.Int(4, &d.Queued)
	w.Int(5, &d.At)
	w.Uint(6, &d.Attempts)
	w.String(7, &d.Message)
}
