package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// The fields of headers: one numbering for all kinds, so that any header can
// be read without knowing its kind. Numbers are never used again.
const (
	fieldEpoch uint64 = iota + 1
	fieldSource
	fieldNumber
	fieldDest
	fieldID
	fieldLife
	fieldSeq
	fieldParent
	fieldCount
	fieldOutcome
	fieldUntil
	fieldDeadline
	fieldTTL
	fieldNotBefore
	fieldTarget
	fieldNonce
	fieldName
	fieldTick
	fieldThen
	fieldTopic
	fieldTopicPartition
	fieldFrom
	fieldTo
)

// Header is what [Peek] reads: the fields of the header of any kind; those
// that the kind does not have are zero.
type Header struct {
	Version uint8
	Kind    Kind
	// Epoch is that of the owner who wrote the record.
	Epoch uint64
	// Source and Number are those of mail, Number also the bound of Forwarded
	// and the output of Undeliverable, which go to Dest.
	Source Partition
	Number uint64
	Dest   Dest
	// Link is the entry meant, or the request itself, with its Parent.
	Link
	Parent ID
	// Count is the number of a call or of an attempt.
	Count   uint64
	Outcome Outcome
	// Until, Deadline, TTL and NotBefore are those of a request.
	Until, Deadline, TTL, NotBefore int64
	Target                          Address
	Nonce                           ID
	// Name, Tick and Then are those of a reminder.
	Name       string
	Tick, Then int64
	// Topic, TopicPartition, From and To are those of Ingest.
	Topic          string
	TopicPartition uint32
	From, To       uint64
	Kept           codec.Kept
}

// Fields describes h.
func (h *Header) Fields(w *codec.Walker) {
	w.Keep(&h.Kept)
	w.Uint(fieldEpoch, &h.Epoch)
	w.Message(fieldSource, &h.Source)
	w.Uint(fieldNumber, &h.Number)
	w.Message(fieldDest, &h.Dest)
	h.header(w)
	w.Fixed(fieldParent, (*[16]byte)(&h.Parent))
	w.Uint(fieldCount, &h.Count)
	w.Uint8(fieldOutcome, (*uint8)(&h.Outcome))
	w.Int(fieldUntil, &h.Until)
	w.Int(fieldDeadline, &h.Deadline)
	w.Int(fieldTTL, &h.TTL)
	w.Int(fieldNotBefore, &h.NotBefore)
	w.Message(fieldTarget, &h.Target)
	w.Fixed(fieldNonce, (*[16]byte)(&h.Nonce))
	w.String(fieldName, &h.Name)
	w.Int(fieldTick, &h.Tick)
	w.Int(fieldThen, &h.Then)
	w.String(fieldTopic, &h.Topic)
	w.Uint32(fieldTopicPartition, &h.TopicPartition)
	w.Uint(fieldFrom, &h.From)
	w.Uint(fieldTo, &h.To)
}

// header puts the link's fields into a header.
func (l *Link) header(w *codec.Walker) {
	w.Fixed(fieldID, (*[16]byte)(&l.ID))
	w.Int(fieldLife, &l.Life)
	w.Uint(fieldSeq, &l.Seq)
}
