package codec

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Message is a value that describes its fields, in ascending order.
type Message interface{ Fields(w *Walker) }

// Kept are the encoded fields that a message did not know.
type Kept []byte

// maxDepth bounds how deep messages nest, and so the stack.
const maxDepth = 32

// Walker walks over the fields of messages, to write or to read them. It stops
// at the first fault; what it is shown after that stays as it is.
type Walker struct {
	reading bool
	out     []byte // writing: what has been written
	in      []byte // reading: all of it
	at      int    // reading: so far
	err     error
	depth   int
	frame
}

// frame is where the walker is within one message.
type frame struct {
	end   int    // reading: where the message ends
	field int    // reading: where the tag is that was read
	next  uint64 // reading: that tag, the next to be taken; none after the last. Writing: 0
	last  uint64 // reading: number of the last field
	kept  *Kept  // nil: the message is closed
	known int    // writing: how much of kept has been written
}

// Append appends the encoding of m to out.
func Append(out []byte, m Message) []byte {
	w := Borrow()
	defer w.Return()
	return w.Append(out, m)
}

// Append is [Append], by a Walker that is kept for it.
func (w *Walker) Append(out []byte, m Message) []byte {
	w.reading, w.out, w.frame = false, out, frame{}
	m.Fields(w)
	w.place(math.MaxUint64)
	out, w.out = w.out, nil
	return out
}

// Decode fills m, which must be a zero value, from in. Byte slices and borrowed
// strings in m alias in, which must not change afterwards. Every error is an [*Error].
func Decode(in []byte, m Message) error {
	w := Borrow()
	defer w.Return()
	w.Read(in)
	m.Fields(w)
	return w.End()
}

// Keep makes the message open. It comes first in Fields.
func (w *Walker) Keep(k *Kept) { w.kept = k }

// Reading reports whether the walker fills the message in.
func (w *Walker) Reading() bool { return w.reading }

// Uint is field n, an unsigned number.
func (w *Walker) Uint(n uint64, v *uint64) {
	if w.next <= most(n) {
		w.uint(n, v)
	}
}

func (w *Walker) uint(n uint64, v *uint64) {
	switch {
	case !w.reading:
		w.number(n, *v)
	case w.find(n, 0):
		*v = w.positive(n)
		w.peek()
	}
}

// Int is field n, a signed number.
func (w *Walker) Int(n uint64, v *int64) {
	if w.next <= most(n) {
		w.int(n, v)
	}
}

func (w *Walker) int(n uint64, v *int64) {
	switch {
	case !w.reading:
		w.number(n, uint64(*v<<1)^uint64(*v>>63))
	case w.find(n, 0):
		z := w.positive(n)
		*v = int64(z>>1) ^ -int64(z&1)
		w.peek()
	}
}

// Uint32 is field n, an unsigned number of 32 bits.
func (w *Walker) Uint32(n uint64, v *uint32) {
	if w.next <= most(n) {
		w.uint32(n, v)
	}
}

func (w *Walker) uint32(n uint64, v *uint32) {
	switch {
	case !w.reading:
		w.number(n, uint64(*v))
	case w.find(n, 0):
		*v = uint32(w.atMost(n, math.MaxUint32, "exceeds 32 bits")) //nolint:gosec // it does not
		w.peek()
	}
}

// Uint8 is field n, an unsigned number of 8 bits.
func (w *Walker) Uint8(n uint64, v *uint8) {
	if w.next <= most(n) {
		w.uint8(n, v)
	}
}

func (w *Walker) uint8(n uint64, v *uint8) {
	switch {
	case !w.reading:
		w.number(n, uint64(*v))
	case w.find(n, 0):
		*v = uint8(w.atMost(n, math.MaxUint8, "exceeds 8 bits")) //nolint:gosec // it does not
		w.peek()
	}
}

// Bool is field n, present if it is true.
func (w *Walker) Bool(n uint64, v *bool) {
	if w.next <= most(n) {
		w.bool(n, v)
	}
}

func (w *Walker) bool(n uint64, v *bool) {
	switch {
	case !w.reading:
		if w.place(n); *v {
			w.tag(n << 1)
			w.out = append(w.out, 1)
		}
	case w.find(n, 0):
		*v = w.atMost(n, 1, "is no boolean") == 1
		w.peek()
	}
}

// Bytes is field n. Empty and nil are the same.
func (w *Walker) Bytes(n uint64, v *[]byte) {
	if w.next <= most(n) {
		w.bytes(n, v)
	}
}

func (w *Walker) bytes(n uint64, v *[]byte) {
	switch {
	case !w.reading:
		if w.place(n); len(*v) > 0 {
			w.tag(n<<1 | 1)
			w.tag(uint64(len(*v)))
			w.out = append(w.out, *v...)
		}
	case w.find(n, 1):
		*v = w.filled(n)
		w.peek()
	}
}

// String is field n.
func (w *Walker) String(n uint64, v *string) {
	if w.next <= most(n) {
		w.string(n, v)
	}
}

func (w *Walker) string(n uint64, v *string) {
	switch {
	case !w.reading:
		w.word(n, *v)
	case w.find(n, 1):
		*v = string(w.filled(n))
		w.peek()
	}
}

// Borrowed is a [Walker.String] whose bytes, when it is read, are those of the
// input: for words that live no longer than the slices beside them do.
func (w *Walker) Borrowed(n uint64, v *string) {
	if w.next <= most(n) {
		w.borrowed(n, v)
	}
}

func (w *Walker) borrowed(n uint64, v *string) {
	switch {
	case !w.reading:
		w.word(n, *v)
	case w.find(n, 1):
		b := w.filled(n)
		*v = unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // nobody changes the input: see Decode
		w.peek()
	}
}

// Fixed is field n, 16 bytes that are absent if all are zero.
func (w *Walker) Fixed(n uint64, v *[16]byte) {
	if w.next <= most(n) {
		w.fixed(n, v)
	}
}

func (w *Walker) fixed(n uint64, v *[16]byte) {
	switch {
	case !w.reading:
		if w.place(n); *v != [16]byte{} {
			w.tag(n<<1 | 1)
			w.out = append(w.out, 16)
			w.out = append(w.out, v[:]...)
		}
	case w.find(n, 1):
		if b := w.filled(n); len(b) != 16 {
			w.fail(n, "is not 16 bytes long")
		} else if *v = [16]byte(b); *v == [16]byte{} {
			w.fail(n, "zero is written by leaving the field out")
		}
		w.peek()
	}
}

// Message is field n, a message that is absent if all its fields are.
func (w *Walker) Message(n uint64, m Message) {
	if w.next <= most(n) {
		w.message(n, m)
	}
}

func (w *Walker) message(n uint64, m Message) {
	switch {
	case !w.reading:
		w.place(n)
		w.nested(n, m, false)
	case w.find(n, 1):
		end := w.until()
		if end == w.at {
			w.fail(n, emptyLeftOut)
		}
		w.inside(end, m)
		w.peek()
	}
}

// number writes a number, unless it is zero.
func (w *Walker) number(n, v uint64) {
	if w.place(n); v != 0 {
		w.tag(n << 1)
		w.tag(v)
	}
}

// positive reads a number that is not zero.
func (w *Walker) positive(n uint64) uint64 {
	v := w.uvarint()
	if v == 0 {
		w.fail(n, "zero is written by leaving the field out")
	}
	return v
}

// atMost reads a number up to a limit.
func (w *Walker) atMost(n, limit uint64, reason string) uint64 {
	v := w.positive(n)
	if v > limit {
		w.fail(n, reason)
		return 0
	}
	return v
}

// word writes a string, unless it is empty.
func (w *Walker) word(n uint64, v string) {
	if w.place(n); v != "" {
		w.tag(n<<1 | 1)
		w.tag(uint64(len(v)))
		w.out = append(w.out, v...)
	}
}

// filled reads a length and as many bytes, at least one.
func (w *Walker) filled(n uint64) []byte {
	b := w.delimited()
	if len(b) == 0 {
		w.fail(n, emptyLeftOut)
	}
	return b
}

const emptyLeftOut = "empty is written by leaving the field out"

// nested writes m as field n, with its length before it, unless it is empty and
// present is false.
func (w *Walker) nested(n uint64, m Message, present bool) {
	start := len(w.out)
	w.tag(n<<1 | 1)
	empty := len(w.out) + 1
	w.sized(m)
	if len(w.out) == empty && !present {
		w.out = w.out[:start]
	}
}

// sized writes m with its length before it.
func (w *Walker) sized(m Message) {
	at := w.Open()
	m.Fields(w)
	w.Close(at)
}

// Prefix is the place of a length that is not known yet.
type Prefix struct {
	at    int
	outer frame
}

// Open begins a message with its length before it, and no tag, while writing.
func (w *Walker) Open() Prefix {
	p := Prefix{at: len(w.out), outer: w.frame}
	w.out = append(w.out, 0) // most are shorter than 128 bytes
	w.frame = frame{}
	return p
}

// Close ends it.
func (w *Walker) Close(p Prefix) {
	w.place(math.MaxUint64)
	w.frame = p.outer
	at := p.at
	size := len(w.out) - at - 1
	if size < 0x80 {
		w.out[at] = byte(size)
		return
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	w.out = append(w.out, length[1:n]...) // room for the longer length
	copy(w.out[at+n:], w.out[at+1:at+1+size])
	copy(w.out[at:], length[:n])
}

// inside reads m, which is all up to end.
func (w *Walker) inside(end int, m Message) {
	if outer, ok := w.enter(end); ok {
		w.peek()
		m.Fields(w)
		w.rest()
		w.leave(outer)
	}
}

// enter goes on with the message that is all up to end.
func (w *Walker) enter(end int) (outer frame, ok bool) {
	if w.err != nil {
		return outer, false
	}
	if w.depth == maxDepth {
		w.fail(w.last, "is nested too deeply")
		return outer, false
	}
	outer = w.frame
	w.frame = frame{end: end}
	w.depth++
	return outer, true
}

func (w *Walker) leave(outer frame) {
	w.depth--
	w.frame = outer
}
