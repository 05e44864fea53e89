package codec

import "encoding/binary"

// place writes the kept fields that come before number n.
func (w *Walker) place(n uint64) {
	if w.kept == nil {
		return
	}
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
// 1 bytes) must be as given. Fields before n are unknown: they are kept.
func (w *Walker) find(n, form uint64) bool {
	for w.err == nil && len(w.in) > 0 {
		before := w.in
		tag := w.uvarint()
		number := tag >> 1
		switch {
		case w.err != nil:
			return false
		case number <= w.last:
			w.fail(number, "is out of order")
			return false
		case number > n:
			w.in = before // a later call finds it
			return false
		case number == n:
			w.last = n
			if tag&1 != form {
				w.fail(n, "is of another form")
			}
			return w.err == nil
		}
		w.last = number
		w.skip(tag)
		w.keep(number, before[:len(before)-len(w.in)])
	}
	return false
}

// skip goes past the value of an unknown field.
func (w *Walker) skip(tag uint64) {
	if tag&1 == 1 {
		w.delimited()
		return
	}
	w.uvarint()
}

// keep remembers an unknown field.
func (w *Walker) keep(number uint64, field []byte) {
	if w.kept == nil {
		w.fail(number, "is unknown here")
		return
	}
	if w.err == nil {
		*w.kept = append(*w.kept, field...)
	}
}

// uvarint reads a number of the shortest form.
func (w *Walker) uvarint() uint64 {
	if w.err != nil {
		return 0
	}
	v, size := binary.Uvarint(w.in)
	switch {
	case size == 0:
		w.fail(w.last, "ends in a number")
		return 0
	case size < 0:
		w.fail(w.last, "has a number of more than 64 bits")
		return 0
	case size > 1 && w.in[size-1] == 0:
		w.fail(w.last, "has a number that is not of the shortest form")
		return 0
	}
	w.in = w.in[size:]
	return v
}

// delimited reads a length and as many bytes.
func (w *Walker) delimited() []byte {
	length := w.uvarint()
	if w.err == nil && length > uint64(len(w.in)) {
		w.fail(w.last, "ends before its length")
	}
	if w.err != nil {
		return nil
	}
	b := w.in[:length:length]
	w.in = w.in[length:]
	return b
}

// offset is where the walker reads.
func (w *Walker) offset() int { return w.end - len(w.in) }
