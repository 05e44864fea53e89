package record

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// What is read most, requests of clients, nested calls and the steps that end them
// or go on, is read by hand: the Walker takes more than three times as long. How they are
// written is said once, by what they show to a Walker. What is here knows a part
// of that: the usual fields in their usual form. It takes field after field off
// the front, and what it does not know, or would have to refuse, stays where it
// is. So it either reads what the Walker would, or something is left over, and
// the Walker reads all of it again.

// quick fills in a request, and reports false if it is not of the usual form.
func (r *ClientRequest) quick(header, payload []byte) bool {
	header = quickID(header, fieldID, &r.ID)
	header = quickInt(header, fieldUntil, &r.Until)
	header = quickInt(header, fieldDeadline, &r.Deadline)
	header = quickInt(header, fieldTTL, &r.TTL)
	header = quickInt(header, fieldNotBefore, &r.NotBefore)
	target, header := quickBytes(header, fieldTarget)
	usual := r.Target.quick(target)

	method, payload := quickBytes(payload, 1)
	r.Args, payload = quickBytes(payload, 2)
	key, payload := quickBytes(payload, 3)
	reply, payload := quickBytes(payload, 4)
	r.Baggage, payload = quickBytes(payload, 5)
	r.Method, r.Key, r.Reply = borrowed(method), string(key), borrowed(reply)
	return usual && len(header)+len(payload) == 0
}

// RequestID is the id of a client's request, if in is one of the usual form. It says
// nothing about the rest of in.
func RequestID(in []byte) (id ID, is bool) {
	const header = 3 // version, kind, a length of one byte
	if len(in) <= header || Kind(in[1]) != KindClientRequest {
		return id, false
	}
	quickID(in[header:], fieldID, &id)
	return id, !id.Zero()
}

// quick fills in a step that ends or goes on, and reports false if it is not of the
// usual form.
func (r *Step) quick(header, payload []byte) bool {
	r.Epoch, header = quickUint(header, fieldEpoch)
	header = r.Link.quick(header)
	outcome, header := quickUint(header, fieldOutcome)
	result, payload := quickBytes(payload, 1)
	r.Result.Value, result = quickBytes(result, 1)
	tail, payload := quickBytes(payload, 2)
	delta, payload := quickBytes(payload, 3)
	tells, payload := quickBytes(payload, 4)
	if goesOn := outcome > uint64(End); outcome > uint64(TailOther) || goesOn != (tail != nil) {
		return false
	}
	r.Outcome = Outcome(outcome)
	if tail == nil {
		r.Tail = nil
	} else if *r.Tail = (Call{}); !r.Tail.quick(tail) {
		return false
	}
	return len(header)+len(result)+len(payload) == 0 && r.Delta.quick(delta) && quickCalls(tells, &r.Tells)
}

// quick fills in the record of nested calls, and reports false if it is not of the
// usual form.
func (r *Issued) quick(header, payload []byte) bool {
	r.Epoch, header = quickUint(header, fieldEpoch)
	header = r.Link.quick(header)
	r.Call, header = quickUint(header, fieldCount)
	children, payload := quickBytes(payload, 1)
	delta, payload := quickBytes(payload, 2)
	return len(header)+len(payload) == 0 && quickCalls(children, &r.Children) && r.Delta.quick(delta)
}

// quick takes the fields of a link off the front of a header.
func (l *Link) quick(header []byte) []byte {
	header = quickID(header, fieldID, &l.ID)
	header = quickInt(header, fieldLife, &l.Life)
	l.Seq, header = quickUint(header, fieldSeq)
	return header
}

// quick fills in an address, which is all of in.
func (a *Address) quick(in []byte) bool {
	typ, in := quickBytes(in, 1)
	actor, in := quickBytes(in, 2)
	index, in := quickUint(in, 3)
	*a = Address{Type: borrowed(typ), Actor: string(actor), Index: uint32(index)} //nolint:gosec // what is larger is refused
	return len(in) == 0 && index <= math.MaxUint32
}

// quickCalls adds calls, which are all of in.
func quickCalls(in []byte, to *[]Call) bool {
	for len(in) > 0 && len(*to) < codec.MaxList {
		call, rest, ok := quickSized(in)
		*to = append(*to, Call{})
		if !ok || !(*to)[len(*to)-1].quick(call) {
			return false
		}
		in = rest
	}
	return len(in) == 0
}

// quick fills in a call, which is all of in.
func (c *Call) quick(in []byte) bool {
	in = quickID(in, 1, &c.ID)
	target, in := quickBytes(in, 2)
	in = quickInt(in, 3, &c.Deadline)
	in = quickInt(in, 4, &c.TTL)
	in = quickInt(in, 5, &c.NotBefore)
	method, in := quickBytes(in, 6)
	c.Args, in = quickBytes(in, 7)
	name, in := quickBytes(in, 8)
	c.Baggage, in = quickBytes(in, 9)
	c.Method, c.Name = borrowed(method), borrowed(name)
	return len(in) == 0 && c.Target.quick(target)
}

// quick adds the cells of a delta, which are all of in.
func (d *Delta) quick(in []byte) bool {
	cells, in := quickBytes(in, 2)
	for len(cells) > 0 && len(d.Cells) < codec.MaxList {
		cell, rest, ok := quickSized(cells)
		if !ok {
			return false
		}
		name, cell := quickBytes(cell, 1)
		value, cell := quickBytes(cell, 2)
		removed, cell := quickUint(cell, 3)
		if len(cell) > 0 || removed > 1 {
			return false
		}
		d.Cells = append(d.Cells, Cell{Name: borrowed(name), Value: value, Removed: removed == 1})
		cells = rest
	}
	return len(cells)+len(in) == 0
}

// quickUint takes field n, a number, off the front of a message. Without it, or
// where it is not as it has to be, the number is zero and the message as it was.
func quickUint(in []byte, n uint64) (uint64, []byte) {
	if len(in) < 2 || in[0] != byte(n<<1) {
		return 0, in
	}
	if v := in[1]; v-1 < 0x7f {
		return uint64(v), in[2:]
	}
	v, size := binary.Uvarint(in[1:])
	if size < 2 || in[size] == 0 {
		return 0, in
	}
	return v, in[1+size:]
}

// quickInt is quickUint for signed numbers.
func quickInt(in []byte, n uint64, to *int64) []byte {
	z, rest := quickUint(in, n)
	*to = int64(z>>1) ^ -int64(z&1) //nolint:gosec // bit for bit
	return rest
}

// quickID is quickUint for ids.
func quickID(in []byte, n uint64, to *ID) []byte {
	if len(in) < 18 || in[0] != byte(n<<1|1) || in[1] != 16 {
		return in
	}
	if *to = ID(in[2:18]); to.Zero() {
		return in
	}
	return in[18:]
}

// quickBytes is quickUint for what has a length.
func quickBytes(in []byte, n uint64) (value, rest []byte) {
	if len(in) < 3 || in[0] != byte(n<<1|1) || in[1] == 0 {
		return nil, in
	}
	if end := 2 + int(in[1]); in[1] < 0x80 && end <= len(in) {
		return in[2:end:end], in[end:]
	}
	value, rest, ok := quickSized(in[1:])
	if !ok {
		return nil, in
	}
	return value, rest
}

// quickSized takes a length and as many bytes off the front of in, which is not
// empty.
func quickSized(in []byte) (value, rest []byte, ok bool) {
	length, size := uint64(in[0]), 1
	if length >= 0x80 {
		if length, size = binary.Uvarint(in); size < 2 || in[size-1] == 0 {
			return nil, nil, false
		}
	}
	if in = in[size:]; length > uint64(len(in)) {
		return nil, nil, false
	}
	return in[:length:length], in[length:], true
}

// borrowed is a string of the bytes of the input.
func borrowed(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // nobody changes the input: see Decode
}
