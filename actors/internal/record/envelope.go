package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// Version is the version of the envelope that is written.
const Version = 1

// MaxSize is the size in bytes beyond which nothing is decoded.
const MaxSize = 64 << 20

var (
	// ErrCorrupt matches errors about bytes that are no record at all. The
	// partition can go on without it (A59).
	ErrCorrupt = errors.New("record: corrupt")
	// ErrUnknown matches errors about records of a version or kind that this
	// program does not know. A newer one may: who skips it goes astray.
	ErrUnknown = errors.New("record: unknown version or kind")
)

// Append appends the encoding of r to out.
func Append(out []byte, r Record) []byte {
	if written, ok := byHand(out, r); ok {
		return written
	}
	return walk(out, r)
}

// walk is Append for any kind and form.
func walk(out []byte, r Record) []byte {
	w := codec.Writer(append(out, Version, byte(r.Kind())))
	length := w.Open()
	r.header(w)
	w.Close(length)
	r.payload(w)
	return w.Written()
}

// Encode returns the encoding of r, the only one there is.
func Encode(r Record) []byte { return Append(nil, r) }

// Decode reads the record that is all of in. Byte slices, and strings that live
// no longer than those, alias in, which must not change afterwards. Errors match
// [ErrCorrupt] or [ErrUnknown].
func Decode(in []byte) (Record, error) {
	w := codec.Borrow()
	defer w.Return()
	return decode(w, in, newRecord)
}

// decode reads a record into what blank makes for its kind.
func decode(w *codec.Walker, in []byte, blank func(Kind) Record) (Record, error) {
	kind, header, payload, err := open(in)
	if err != nil {
		return nil, err
	}
	r := blank(kind)
	if r == nil {
		return nil, fmt.Errorf("%w: kind %d", ErrUnknown, kind)
	}
	w.Read(header)
	r.header(w)
	if err := w.End(); err != nil {
		return nil, fmt.Errorf("%w: header of %v: %w", ErrCorrupt, kind, err)
	}
	w.Read(payload)
	r.payload(w)
	if err := w.End(); err != nil {
		return nil, fmt.Errorf("%w: payload of %v: %w", ErrCorrupt, kind, err)
	}
	return r, nil
}

// Decoder decodes records one after the other. Those of which a log has most
// are good until the next, since their room is used again, with that of their
// cells and tail call; what else they have of slices stays good. The zero value
// is ready.
type Decoder struct {
	walker  codec.Walker
	request ClientRequest
	step    Step
	tail    Call // of the step
}

// Decode is [Decode].
func (d *Decoder) Decode(in []byte) (Record, error) {
	if r, ok := d.quick(in); ok {
		return r, nil
	}
	return decode(&d.walker, in, d.blank)
}

// quick reads a record by hand, and reports false if it is not of a usual kind
// and form.
func (d *Decoder) quick(in []byte) (Record, bool) {
	kind, header, payload, err := open(in)
	switch {
	case err != nil:
		return nil, false
	case kind == KindClientRequest:
		d.blank(kind)
		return &d.request, d.request.quick(header, payload)
	case kind == KindStep:
		d.blank(kind)
		return &d.step, d.step.quick(header, payload)
	case kind == KindIssued:
		r := new(Issued)
		return r, r.quick(header, payload)
	default:
		return nil, false
	}
}

func (d *Decoder) blank(k Kind) Record {
	switch k {
	case KindClientRequest:
		d.request = ClientRequest{}
		return &d.request
	case KindStep:
		cells := d.step.Delta.Cells
		clear(cells)
		d.step = Step{Tail: &d.tail, Delta: Delta{Cells: cells[:0]}}
		return &d.step
	default:
		return newRecord(k)
	}
}

// Peek reads the header alone, also that of a kind it does not know, and
// returns the undecoded payload beside it.
func Peek(in []byte) (Header, []byte, error) {
	kind, header, payload, err := open(in)
	if err != nil {
		return Header{}, nil, err
	}
	h := Header{Version: in[0], Kind: kind}
	if err := codec.Decode(header, &h); err != nil {
		return Header{}, nil, fmt.Errorf("%w: header of %v: %w", ErrCorrupt, kind, err)
	}
	return h, payload, nil
}

// open takes the envelope apart.
func open(in []byte) (kind Kind, header, payload []byte, err error) {
	const fixed = 2 // version and kind
	switch {
	case len(in) > MaxSize:
		return 0, nil, nil, fmt.Errorf("%w: %d bytes are more than %d", ErrCorrupt, len(in), MaxSize)
	case len(in) <= fixed:
		return 0, nil, nil, fmt.Errorf("%w: %d bytes are too few", ErrCorrupt, len(in))
	case in[0] != Version:
		return 0, nil, nil, fmt.Errorf("%w: version %d, this program knows %d", ErrUnknown, in[0], Version)
	}
	length, size := binary.Uvarint(in[fixed:])
	if size <= 0 || size > 1 && in[fixed+size-1] == 0 {
		return 0, nil, nil, fmt.Errorf("%w: the length of the header is no number of the shortest form", ErrCorrupt)
	}
	rest := in[fixed+size:]
	if length > uint64(len(rest)) {
		return 0, nil, nil, fmt.Errorf("%w: the header ends before its length of %d bytes", ErrCorrupt, length)
	}
	return Kind(in[1]), rest[:length], rest[length:], nil
}
