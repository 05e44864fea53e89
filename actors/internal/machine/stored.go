package machine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// How the parts of a state are written. All are closed: a program that does not
// know a part must not go on from it. A change gets a new Format.

type snapshot struct {
	core    []byte
	changes []storedChange
}

// Fields describes s.
func (s *snapshot) Fields(w *codec.Walker) {
	w.Bytes(1, &s.core)
	codec.LongList(w, 2, &s.changes)
}

type core struct {
	format, epoch uint64
	self          record.Partition
	partitions    uint32
	window, clock int64
	entries       []storedEntry
	in            []storedIn
	out           []storedOut
	roots         []storedRoot
	reminders     []storedReminder
	delayed       []record.Packed
	ingress       []storedSource
}

// Fields describes c.
func (c *core) Fields(w *codec.Walker) {
	w.Uint(1, &c.format)
	w.Message(2, &c.self)
	w.Uint32(3, &c.partitions)
	w.Int(4, &c.window)
	w.Uint(5, &c.epoch)
	w.Int(6, &c.clock)
	codec.LongList(w, 7, &c.entries)
	codec.LongList(w, 8, &c.in)
	codec.LongList(w, 9, &c.out)
	codec.LongList(w, 10, &c.roots)
	codec.LongList(w, 11, &c.reminders)
	codec.LongList(w, 12, &c.delayed)
	codec.LongList(w, 13, &c.ingress)
}

type storedEntry struct{ *Entry }

// Fields describes e.
func (e *storedEntry) Fields(w *codec.Walker) {
	if e.Entry == nil {
		e.Entry = new(Entry)
	}
	request := record.Packed{Message: &e.Request}
	w.Message(1, &request)
	if read, ok := request.Message.(*record.Request); ok {
		e.Request = *read
	} else {
		w.Fail(1, "is no request")
	}
	codec.LongList(w, 2, &e.issued)
	w.Uint(3, &e.Calls)
	w.Uint(4, &e.Tries)
	w.Int(5, &e.RetryAt)
	w.Int(6, &e.Queued)
	w.Bool(7, &e.Held)
	w.Bool(8, &e.Cancelled)
}

// Fields describes c.
func (c *Child) Fields(w *codec.Walker) {
	w.Fixed(1, (*[16]byte)(&c.ID))
	w.Message(2, &c.Partition)
}

type storedIn struct {
	from   record.Partition
	number uint64
}

// Fields describes i.
func (i *storedIn) Fields(w *codec.Walker) {
	w.Message(1, &i.from)
	w.Uint(2, &i.number)
}

type storedOut struct {
	dest    record.Dest
	last    uint64
	waiting []Output
}

// Fields describes o. Of the outputs only the first number is written: the
// others follow it.
func (o *storedOut) Fields(w *codec.Walker) {
	var first uint64
	packed := make([]record.Packed, 0, len(o.waiting))
	for i, output := range o.waiting {
		if i == 0 {
			first = output.Number
		}
		packed = append(packed, record.Packed{Message: output.Message})
	}
	w.Message(1, &o.dest)
	w.Uint(2, &o.last)
	w.Uint(3, &first)
	codec.LongList(w, 4, &packed)
	if !w.Reading() {
		return
	}
	for i, p := range packed {
		if p.Message == nil {
			w.Fail(4, "has no message")
			return
		}
		o.waiting = append(o.waiting, Output{Dest: o.dest, Number: first + uint64(i), Message: p.Message})
	}
}

type storedRoot struct {
	id     record.ID
	until  int64
	done   bool
	answer []byte // a record.Result, encoded
}

// Fields describes r.
func (r *storedRoot) Fields(w *codec.Walker) {
	w.Fixed(1, (*[16]byte)(&r.id))
	w.Int(2, &r.until)
	w.Bool(3, &r.done)
	w.Bytes(4, &r.answer)
}

// stored is what is written of the roots, in the order of their untils and ids.
// There may be a million of them: what stands in line needs to be sorted within
// one millisecond only.
func (t *roots) stored() []storedRoot {
	others := t.standing(t.ends.rest, 0)
	for _, block := range t.blocks {
		for i := range block {
			if r := &block[i]; r.stage == awaited {
				others = append(others, storedRoot{id: r.id, until: r.until})
			}
		}
	}
	slices.SortFunc(others, compareRoots)
	line, from := t.standing(t.ends.left(), len(others)), 0
	for to := range line {
		if line[to].until > line[from].until {
			slices.SortFunc(line[from:to], compareRoots)
			from = to
		}
	}
	slices.SortFunc(line[from:], compareRoots)
	return merged(line, others)
}

// standing is what is written of those whose expiries count, with room for more.
func (t *roots) standing(list []expiry, more int) []storedRoot {
	all := make([]storedRoot, 0, len(list)+more)
	for _, e := range list {
		if t.stands(e) {
			r := t.at(e.root)
			all = append(all, storedRoot{r.id, r.until, true, t.archive.get(r.answer)})
		}
	}
	return all
}

func compareRoots(a, b storedRoot) int {
	if c := cmp.Compare(a.until, b.until); c != 0 {
		return c
	}
	return compareIDs(a.id, b.id)
}

// merged makes one list of two that are sorted, in the room of the long one:
// what is few and new moves little of it.
func merged(long, short []storedRoot) []storedRoot {
	all := slices.Grow(long, len(short))[:len(long)+len(short)]
	for n := len(short); n > 0; n-- {
		x := short[n-1]
		at, _ := slices.BinarySearchFunc(long, x, compareRoots)
		copy(all[at+n:], long[at:])
		all[at+n-1], long = x, long[:at]
	}
	return all
}

// restore remembers a root again.
func (t *roots) restore(x *storedRoot) error {
	if t.of(x.id) != nil {
		return fmt.Errorf("two roots of %v", x.id)
	}
	r := t.open(x.id, x.until)
	if !x.done {
		return nil
	}
	var answer record.Result
	if err := codec.Decode(x.answer, &answer); err != nil {
		return fmt.Errorf("the answer of %v: %w", x.id, err)
	}
	t.close(r, t.archive.put(&answer))
	return nil
}

type storedReminder struct {
	actor string
	Reminder
}

// Fields describes r.
func (r *storedReminder) Fields(w *codec.Walker) {
	w.String(1, &r.actor)
	w.Message(2, &r.Reminder.Reminder)
}

type storedSource struct {
	source
	next uint64
}

// Fields describes s.
func (s *storedSource) Fields(w *codec.Walker) {
	w.String(1, &s.topic)
	w.Uint32(2, &s.partition)
	w.Uint(3, &s.next)
}

func compareSources(a, b storedSource) int {
	return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
}

type storedChange struct{ Change }

// Fields describes c.
func (c *storedChange) Fields(w *codec.Walker) {
	w.String(1, &c.Actor)
	w.Bool(2, &c.Clear)
	codec.LongList(w, 3, &c.Cells)
}
