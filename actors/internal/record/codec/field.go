package codec

import "encoding/binary"

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

// find goes on to field n and reports whether it is there; its form (0 number,
// 1 bytes) must be as given. Fields before n are unknown: they are kept. Most
// fields of most messages are absent, which is told by the tag of the next one,
// read once.
func (w *Walker) find(n, form uint64) bool {
	if w.next == 0 && !w.peek() || w.next>>1 > n {
		return false
	}
	return w.reach(n, form)
}

// peek reads the next tag, if there is one.
func (w *Walker) peek() bool {
	if w.err != nil || w.at == w.end {
		return false
	}
	w.field = w.at
	tag := w.uvarint()
	switch {
	case w.err != nil:
		return false
	case tag>>1 <= w.last:
		w.fail(tag>>1, "is out of order")
		return false
	}
	w.next = tag
	return true
}

// reach takes the tags up to that of field n.
func (w *Walker) reach(n, form uint64) bool {
	for {
		tag, number := w.next, w.next>>1
		w.last, w.next = number, 0
		if number == n {
			if tag&1 != form {
				w.fail(n, "is of another form")
			}
			return w.err == nil
		}
		field := w.field
		w.skip(tag)
		w.keep(number, field)
		if !w.peek() || w.next>>1 > n {
			return false
		}
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
