package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// Takeover begins an epoch. The owner recognises its own by the nonce (H16).
type Takeover struct {
	Epoch uint64
	Nonce ID
	Owner string
	// Partitions and Window are fixed for ever by the first Takeover of a log:
	// routing, numbers, return addresses and what homes remember depend on
	// them.
	Partitions uint32
	Window     int64 // milliseconds

	HeaderKept, Kept codec.Kept
}

// Kind is [KindTakeover].
func (*Takeover) Kind() Kind { return KindTakeover }

func (r *Takeover) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	w.Fixed(fieldNonce, (*[16]byte)(&r.Nonce))
}

func (r *Takeover) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.String(1, &r.Owner)
	w.Uint32(2, &r.Partitions)
	w.Int(3, &r.Window)
}

// Issued commits what an invocation has changed so far and makes its nested
// calls; parallel calls share one. Call is the number of such records of the
// link before it, so that a copy is void (H3).
type Issued struct {
	Epoch uint64
	Link
	Call     uint64
	Children []Call
	Delta    Delta

	HeaderKept, Kept codec.Kept
}

// Kind is [KindIssued].
func (*Issued) Kind() Kind { return KindIssued }

func (r *Issued) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	r.Link.header(w)
	w.Uint(fieldCount, &r.Call)
}

func (r *Issued) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	codec.List(w, 1, &r.Children)
	w.Message(2, &r.Delta)
}

// Write commits what an invocation has changed before it waits (H18).
type Write struct {
	Epoch uint64
	Link
	Call  uint64
	Delta Delta

	HeaderKept, Kept codec.Kept
}

// Kind is [KindWrite].
func (*Write) Kind() Kind { return KindWrite }

func (r *Write) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	r.Link.header(w)
	w.Uint(fieldCount, &r.Call)
}

func (r *Write) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Message(1, &r.Delta)
}

// Begun counts an attempt before it runs: that of a link which a predecessor
// may have been running when it died (H24).
type Begun struct {
	Epoch uint64
	Link
	Attempt uint64

	HeaderKept, Kept codec.Kept
}

// Kind is [KindBegun].
func (*Begun) Kind() Kind { return KindBegun }

func (r *Begun) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	r.Link.header(w)
	w.Uint(fieldCount, &r.Attempt)
}

func (r *Begun) payload(w *codec.Walker) { w.Keep(&r.Kept) }

// Failed counts an attempt that failed, and says when the next may start.
type Failed struct {
	Epoch uint64
	Link
	Attempt   uint64
	NotBefore int64
	Reason    string

	HeaderKept, Kept codec.Kept
}

// Kind is [KindFailed].
func (*Failed) Kind() Kind { return KindFailed }

func (r *Failed) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	r.Link.header(w)
	w.Uint(fieldCount, &r.Attempt)
	w.Int(fieldNotBefore, &r.NotBefore)
}

func (r *Failed) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.String(1, &r.Reason)
}

// Step ends a link. Outcomes other than the first three carry neither Delta
// nor Tells nor Letters.
type Step struct {
	Epoch uint64
	Link
	Outcome Outcome
	// Result is that of End; that of the failures is made by the machine,
	// with this one's Failure, if there is one, in its place.
	Result Result
	// Tail is where TailSelf (only method, arguments, baggage) and TailOther go on.
	Tail  *Call
	Delta Delta
	Tells []Call
	// Letters go to ordinary topics.
	Letters []Posted
	// Dead is the topic for a dead letter: of every poison, and of a tell
	// that is given up. Empty means none.
	Dead string

	HeaderKept, Kept codec.Kept
}

// Kind is [KindStep].
func (*Step) Kind() Kind { return KindStep }

func (r *Step) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	r.Link.header(w)
	w.Uint8(fieldOutcome, (*uint8)(&r.Outcome))
	if r.Outcome >= outcomes {
		w.Fail(fieldOutcome, "is no outcome")
	}
}

func (r *Step) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Message(1, &r.Result)
	codec.Optional(w, 2, &r.Tail)
	w.Message(3, &r.Delta)
	codec.List(w, 4, &r.Tells)
	codec.List(w, 5, &r.Letters)
	w.String(6, &r.Dead)
	if tail := r.Outcome == TailSelf || r.Outcome == TailOther; tail != (r.Tail != nil) {
		w.Fail(2, "goes with the outcomes that are tail calls")
	}
}

// Posted is a letter with its topic.
type Posted struct {
	Topic   string
	Key     string
	Value   []byte
	Headers []Attribute
	Kept    codec.Kept
}

// Fields describes p.
func (p *Posted) Fields(w *codec.Walker) {
	w.Keep(&p.Kept)
	w.String(1, &p.Topic)
	w.String(2, &p.Key)
	w.Bytes(3, &p.Value)
	codec.List(w, 4, &p.Headers)
}

// Expired ends many requests whose deadline has passed; each is void by itself.
type Expired struct {
	Epoch uint64
	Links []Link
	Dead  string

	HeaderKept, Kept codec.Kept
}

// Kind is [KindExpired].
func (*Expired) Kind() Kind { return KindExpired }

func (r *Expired) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
}

func (r *Expired) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	codec.List(w, 1, &r.Links)
	w.String(2, &r.Dead)
}
