package codec

import (
	"encoding/binary"
	"math"
)

// place writes the kept fields that come before number n. Most messages have
// none.
func (w *Walker) place(n uint64) {
	if w.kept != nil && w.known < len(*w.kept) {
		w.placeKept(n)
	}
}

func (w *Walker) placeKept(n uint64) {
	kept := *w.kept
	for w.known < len(kept) {
		tag, size := binary.Uvarint(kept[w.known:])
		if tag>>1 >= n {
			return
		}
		end := w.known + size
		length, size := binary.Uvarint(kept[end:])
		end += size
		if tag&1 == 1 {
			end += int(length)
		}
		w.out = append(w.out, kept[w.known:end]...)
		w.known = end
	}
}

// none is the tag behind the last field, which no field has.
const none = math.MaxUint64

// most is the largest tag that field n can have: what the next tag is compared
// with before anything else is done. Most fields of most messages are absent,
// and cost no more than that; while something is written it always holds.
func most(n uint64) uint64 { return n<<1 | 1 }

// find goes on to field n and reports whether it is there; its form (0 number,
// 1 bytes) must be as given. Fields before n are unknown: they are kept. Who has
// read the value peeks at what follows.
func (w *Walker) find(n, form uint64) bool {
	for w.next>>1 < n {
		w.unknown()
	}
	switch w.next {
	case n<<1 | form:
		w.last = n
		return true
	case n<<1 | form ^ 1:
		w.fail(n, "is of another form")
	}
	return false
}

// unknown takes the next field, which the message does not know.
func (w *Walker) unknown() {
	field, number := w.field, w.next>>1
	w.last = number
	w.skip(w.next)
	w.keep(number, field)
	w.peek()
}

// rest takes what is left of a message: all of it is unknown.
func (w *Walker) rest() {
	for w.next != none {
		w.unknown()
	}
}

// peek reads the next tag.
func (w *Walker) peek() {
	w.next = none
	if w.at == w.end || w.err != nil {
		return
	}
	w.field = w.at
	tag := w.uvarint()
	switch {
	case w.err != nil:
	case tag>>1 <= w.last:
		w.fail(tag>>1, "is out of order")
	case tag == none:
		w.fail(tag>>1, "is beyond all numbers")
	default:
		w.next = tag
	}
}

// skip goes past the value of an unknown field.
func (w *Walker) skip(tag uint64) {
	if tag&1 == 1 {
		w.delimited()
		return
	}
	w.uvarint()
}

// keep remembers an unknown field, which began there and has just been read.
func (w *Walker) keep(number uint64, field int) {
	if w.kept == nil {
		w.fail(number, "is unknown here")
		return
	}
	if w.err == nil {
		*w.kept = append(*w.kept, w.in[field:w.at]...)
	}
}

// uvarint reads a number of the shortest form.
func (w *Walker) uvarint() uint64 {
	if w.err != nil {
		return 0
	}
	if w.at < w.end && w.in[w.at] < 0x80 {
		v := uint64(w.in[w.at])
		w.at++
		return v
	}
	return w.long()
}

// long reads a number of more than one byte.
func (w *Walker) long() uint64 {
	v, size := binary.Uvarint(w.in[w.at:w.end])
	switch {
	case size == 0:
		w.fail(w.last, "ends in a number")
		return 0
	case size < 0:
		w.fail(w.last, "has a number of more than 64 bits")
		return 0
	case size > 1 && w.in[w.at+size-1] == 0:
		w.fail(w.last, "has a number that is not of the shortest form")
		return 0
	}
	w.at += size
	return v
}

// tag writes the tag of a field.
func (w *Walker) tag(t uint64) {
	if t < 0x80 {
		w.out = append(w.out, byte(t))
		return
	}
	w.out = binary.AppendUvarint(w.out, t)
}

// delimited reads a length and as many bytes.
func (w *Walker) delimited() []byte {
	end := w.until()
	b := w.in[w.at:end:end]
	w.at = end
	return b
}

// until reads a length, and returns where what has it ends.
func (w *Walker) until() int {
	length := w.uvarint()
	if w.err == nil && length > uint64(w.end-w.at) { //nolint:gosec // never negative
		w.fail(w.last, "ends before its length")
	}
	if w.err != nil {
		return w.at
	}
	return w.at + int(length) //nolint:gosec // at most what is left
}
