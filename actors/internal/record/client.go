package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// Record is one record of a partition's log.
type Record interface {
	// Kind says which.
	Kind() Kind
	header(w *codec.Walker)
	payload(w *codec.Walker)
}

// ClientRequest is a root, from outside. Copies of one request have one ID;
// their untils may differ.
type ClientRequest struct {
	ID ID
	// Until is when the request is void if it has not been accepted (H2); a
	// later copy with a later one prolongs what the home remembers (H22).
	Until int64
	// TTL bounds the start, from the append on; Deadline is the same by the
	// client's clock, for logs that have no append time. 0 means no bound.
	Deadline, TTL int64
	NotBefore     int64
	Target        Address
	Method        string
	Args          []byte
	// Key is the client's idempotency key; without one the id serves.
	Key     string
	Reply   string
	Baggage []byte

	HeaderKept, Kept codec.Kept
}

// Kind is [KindClientRequest].
func (*ClientRequest) Kind() Kind { return KindClientRequest }

func (r *ClientRequest) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Fixed(fieldID, (*[16]byte)(&r.ID))
	w.Int(fieldUntil, &r.Until)
	w.Int(fieldDeadline, &r.Deadline)
	w.Int(fieldTTL, &r.TTL)
	w.Int(fieldNotBefore, &r.NotBefore)
	w.Message(fieldTarget, &r.Target)
}

func (r *ClientRequest) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Borrowed(1, &r.Method)
	w.Bytes(2, &r.Args)
	w.String(3, &r.Key)
	w.Borrowed(4, &r.Reply)
	w.Bytes(5, &r.Baggage)
}

// Read is a shared read, from a client. It is never an entry: who applies it
// as the owner answers it from a state at or after it (R41).
type Read struct {
	ID       ID
	Deadline int64
	Target   Address
	Method   string
	Args     []byte
	Reply    string
	Baggage  []byte

	HeaderKept, Kept codec.Kept
}

// Kind is [KindRead].
func (*Read) Kind() Kind { return KindRead }

func (r *Read) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Fixed(fieldID, (*[16]byte)(&r.ID))
	w.Int(fieldDeadline, &r.Deadline)
	w.Message(fieldTarget, &r.Target)
}

func (r *Read) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Borrowed(1, &r.Method)
	w.Bytes(2, &r.Args)
	w.Borrowed(3, &r.Reply)
	w.Bytes(4, &r.Baggage)
}
