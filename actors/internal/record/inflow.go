package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// Fire makes a reminder's request, or lets a delayed one in: then Name is
// empty and ID is that request's own.
type Fire struct {
	Epoch uint64
	// ID is that of the new request, fresh.
	ID     ID
	Target Address
	Name   string
	// Tick is the time it was due, Then the next one as the owner computes it,
	// 0 for none. Missed counts the ticks between that passed unfired.
	Tick, Then int64
	Missed     uint64

	HeaderKept, Kept codec.Kept
}

// Kind is [KindFire].
func (*Fire) Kind() Kind { return KindFire }

func (r *Fire) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	w.Fixed(fieldID, (*[16]byte)(&r.ID))
	w.Message(fieldTarget, &r.Target)
	w.String(fieldName, &r.Name)
	w.Int(fieldTick, &r.Tick)
	w.Int(fieldThen, &r.Then)
}

func (r *Fire) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Uint(1, &r.Missed)
}

// Ingest turns messages of a source topic into requests, and moves the position
// from From to To. A position is the offset of the next message and 1, so that 0
// is that of a source that nobody has begun. Offsets without a message are gaps
// of the topic, or were left out.
type Ingest struct {
	Epoch          uint64
	Topic          string
	TopicPartition uint32
	From, To       uint64
	Messages       []Ingested

	HeaderKept, Kept codec.Kept
}

// Kind is [KindIngest].
func (*Ingest) Kind() Kind { return KindIngest }

func (r *Ingest) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	w.String(fieldTopic, &r.Topic)
	w.Uint32(fieldTopicPartition, &r.TopicPartition)
	w.Uint(fieldFrom, &r.From)
	w.Uint(fieldTo, &r.To)
}

func (r *Ingest) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	codec.List(w, 1, &r.Messages)
}

// Ingested is one message; its id and key are those of its offset, whatever
// Call says.
type Ingested struct {
	Offset uint64
	Call   Call
	// Dead, if not nil, is what becomes of a message that is no request.
	Dead *Posted
	Kept codec.Kept
}

// Fields describes m.
func (m *Ingested) Fields(w *codec.Walker) {
	w.Keep(&m.Kept)
	w.Uint(1, &m.Offset)
	w.Message(2, &m.Call)
	codec.Optional(w, 3, &m.Dead)
}
