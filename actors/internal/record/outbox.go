package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// Forwarded says that the outputs to Dest up to Number were acknowledged.
type Forwarded struct {
	Epoch  uint64
	Dest   Dest
	Number uint64

	HeaderKept, Kept codec.Kept
}

// Kind is [KindForwarded].
func (*Forwarded) Kind() Kind { return KindForwarded }

func (r *Forwarded) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	w.Uint(fieldNumber, &r.Number)
	w.Message(fieldDest, &r.Dest)
}

func (r *Forwarded) payload(w *codec.Walker) { w.Keep(&r.Kept) }

// Undeliverable gives up one output: the broker refuses it for good (H20).
type Undeliverable struct {
	Epoch   uint64
	Dest    Dest
	Number  uint64
	Failure Failure
	// Instead sends the failure in the place of the result of a response.
	Instead bool

	HeaderKept, Kept codec.Kept
}

// Kind is [KindUndeliverable].
func (*Undeliverable) Kind() Kind { return KindUndeliverable }

func (r *Undeliverable) header(w *codec.Walker) {
	w.Keep(&r.HeaderKept)
	w.Uint(fieldEpoch, &r.Epoch)
	w.Uint(fieldNumber, &r.Number)
	w.Message(fieldDest, &r.Dest)
}

func (r *Undeliverable) payload(w *codec.Walker) {
	w.Keep(&r.Kept)
	w.Message(1, &r.Failure)
	w.Bool(2, &r.Instead)
}
