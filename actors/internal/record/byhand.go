package record

import "encoding/binary"

// What a call, a link and a nested call put on record is written by hand: the
// Walker takes more than three times as long. As in reading, what is here knows
// the usual fields only. Which they are is asked first: a record that has others is
// left to the Walker as a whole.

// byHand appends the encoding of a record, and reports false if it is not of a
// usual kind and form.
func byHand(out []byte, r Record) ([]byte, bool) {
	switch r := r.(type) {
	case *ClientRequest:
		if len(r.HeaderKept)+len(r.Kept) == 0 {
			return r.write(out), true
		}
	case *Step:
		if len(r.HeaderKept)+len(r.Kept)+len(r.Letters)+len(r.Dead) == 0 && r.Result.usual() && r.Delta.usual() {
			return r.write(out), true
		}
	case *Issued:
		if len(r.HeaderKept)+len(r.Kept) == 0 && r.Delta.usual() {
			return r.write(out), true
		}
	}
	return out, false
}

func (r *Result) usual() bool { return r.Failure == nil && len(r.Kept) == 0 }

func (d *Delta) usual() bool { return !d.Clear && len(d.Reminders)+len(d.Kept) == 0 }

func (r *ClientRequest) write(out []byte) []byte {
	out, header := begin(append(out, Version, byte(KindClientRequest)))
	out = appendID(out, fieldID, &r.ID)
	out = appendInt(out, fieldUntil, r.Until)
	out = appendInt(out, fieldDeadline, r.Deadline)
	out = appendInt(out, fieldTTL, r.TTL)
	out = appendInt(out, fieldNotBefore, r.NotBefore)
	out = r.Target.write(out, fieldTarget)
	out = end(out, header)

	out = appendWord(out, 1, r.Method)
	out = appendWord(out, 2, r.Args)
	out = appendWord(out, 3, r.Key)
	out = appendWord(out, 4, r.Reply)
	return appendWord(out, 5, r.Baggage)
}

func (r *Step) write(out []byte) []byte {
	out, header := begin(append(out, Version, byte(KindStep)))
	out = appendUint(out, fieldEpoch, r.Epoch)
	out = r.Link.write(out)
	out = appendUint(out, fieldOutcome, uint64(r.Outcome))
	out = end(out, header)

	if len(r.Result.Value) > 0 {
		var result int
		out, result = begin(append(out, 1<<1|1))
		out = end(appendWord(out, 1, r.Result.Value), result)
	}
	if r.Tail != nil {
		out = r.Tail.write(append(out, 2<<1|1))
	}
	out = r.Delta.write(out, 3)
	return appendCalls(out, 4, r.Tells)
}

func (r *Issued) write(out []byte) []byte {
	out, header := begin(append(out, Version, byte(KindIssued)))
	out = appendUint(out, fieldEpoch, r.Epoch)
	out = r.Link.write(out)
	out = appendUint(out, fieldCount, r.Call)
	out = end(out, header)

	out = appendCalls(out, 1, r.Children)
	return r.Delta.write(out, 2)
}

// write writes the link's fields of a header.
func (l *Link) write(out []byte) []byte {
	out = appendID(out, fieldID, &l.ID)
	out = appendInt(out, fieldLife, l.Life)
	return appendUint(out, fieldSeq, l.Seq)
}

// write writes an address as field n, unless it is empty.
func (a *Address) write(out []byte, n uint64) []byte {
	if *a == (Address{}) {
		return out
	}
	out, address := begin(append(out, byte(n<<1|1)))
	out = appendWord(out, 1, a.Type)
	out = appendWord(out, 2, a.Actor)
	out = appendUint(out, 3, uint64(a.Index))
	return end(out, address)
}

// write writes a delta as field n, unless it is empty. It has only cells.
func (d *Delta) write(out []byte, n uint64) []byte {
	if len(d.Cells) == 0 {
		return out
	}
	out, delta := begin(append(out, byte(n<<1|1)))
	out, cells := begin(append(out, 2<<1|1))
	for i := range d.Cells {
		c := &d.Cells[i]
		var cell int
		out, cell = begin(out)
		out = appendWord(out, 1, c.Name)
		out = appendWord(out, 2, c.Value)
		if c.Removed {
			out = appendUint(out, 3, 1)
		}
		out = end(out, cell)
	}
	return end(end(out, cells), delta)
}

// appendCalls writes calls as field n, unless there are none.
func appendCalls(out []byte, n uint64, calls []Call) []byte {
	if len(calls) == 0 {
		return out
	}
	out, all := begin(append(out, byte(n<<1|1)))
	for i := range calls {
		out = calls[i].write(out)
	}
	return end(out, all)
}

// write writes a call with its length before it.
func (c *Call) write(out []byte) []byte {
	out, call := begin(out)
	out = appendID(out, 1, &c.ID)
	out = c.Target.write(out, 2)
	out = appendInt(out, 3, c.Deadline)
	out = appendInt(out, 4, c.TTL)
	out = appendInt(out, 5, c.NotBefore)
	out = appendWord(out, 6, c.Method)
	out = appendWord(out, 7, c.Args)
	out = appendWord(out, 8, c.Name)
	out = appendWord(out, 9, c.Baggage)
	return end(append(out, c.Kept...), call) // what is unknown has the highest numbers
}

// begin leaves room for the length of what follows.
func begin(out []byte) (behind []byte, at int) { return append(out, 0), len(out) }

// end fills it in.
func end(out []byte, at int) []byte {
	size := len(out) - at - 1
	if size < 0x80 {
		out[at] = byte(size)
		return out
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	out = append(out, length[1:n]...) // room for the longer length
	copy(out[at+n:], out[at+1:at+1+size])
	copy(out[at:], length[:n])
	return out
}

// appendUint writes field n, unless it is zero.
func appendUint(out []byte, n, v uint64) []byte {
	switch {
	case v == 0:
		return out
	case v < 0x80:
		return append(out, byte(n<<1), byte(v))
	default:
		return binary.AppendUvarint(append(out, byte(n<<1)), v)
	}
}

// appendInt is appendUint for signed numbers.
func appendInt(out []byte, n uint64, v int64) []byte {
	return appendUint(out, n, uint64(v<<1)^uint64(v>>63)) //nolint:gosec // bit for bit
}

// appendID is appendUint for ids.
func appendID(out []byte, n uint64, id *ID) []byte {
	if id.Zero() {
		return out
	}
	return append(append(out, byte(n<<1|1), 16), id[:]...)
}

// appendWord is appendUint for what has a length.
func appendWord[T ~string | ~[]byte](out []byte, n uint64, word T) []byte {
	switch length := len(word); {
	case length == 0:
		return out
	case length < 0x80:
		out = append(out, byte(n<<1|1), byte(length))
	default:
		out = binary.AppendUvarint(append(out, byte(n<<1|1)), uint64(length))
	}
	return append(out, word...)
}
