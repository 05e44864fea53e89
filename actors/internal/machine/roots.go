package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// root is what the home of a client's request remembers of it, wherever its
// chain is: open from its acceptance on, then the answer.
type root struct {
	id     record.ID
	until  int64
	answer passage // in the archive
	number uint32  // of its place
	stage  stage
}

// stage is how far a root has come.
type stage uint8

const (
	vacant  stage = iota // there is none in this place
	awaited              // its chain goes on
	answered
)

// rootsAtOnce is how many roots lie together.
const rootsAtOnce = 256

// roots are those of a partition: all that came within the window. They are many
// and live long, so there is no pointer in them nor in the table that finds
// them: the collector passes over both.
type roots struct {
	index   index[uint32] // numbers of places, and 1
	blocks  [][]root
	free    []uint32  // places
	ends    deadlines // of those that are done
	archive archive
	glanced uint32 // no part of them: what is read for nothing the compiler leaves out
}

// of is the root of a request, nil if nothing is remembered of it.
func (t *roots) of(id record.ID) *root {
	if t.index.used == 0 {
		return nil
	}
	hash, mask := hashOf(id), t.index.mask()
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &t.index.slots[at]
		if s.empty() {
			return nil
		}
		if s.hash == hash {
			if r := t.at(s.thing - 1); r.id == id {
				return r
			}
		}
	}
}

// glance reads the slots where requests are going to be looked up. The table is
// large, and each look-up waits for memory, one after the other; these wait
// together.
func (t *roots) glance(ids []record.ID) {
	if t.index.used == 0 {
		return
	}
	mask, sum := t.index.mask(), uint32(0)
	for i := range ids {
		sum += t.index.slots[hashOf(ids[i])&mask].hash
	}
	t.glanced = sum
}

func (t *roots) at(n uint32) *root { return &t.blocks[n/rootsAtOnce][n%rootsAtOnce] }

// open remembers a request that has come.
func (t *roots) open(id record.ID, until int64) *root {
	n := t.place()
	t.index.add(hashOf(id), n+1)
	r := t.at(n)
	*r = root{id: id, until: until, number: n, stage: awaited}
	return r
}

// place finds a place for a root.
func (t *roots) place() uint32 {
	if len(t.free) == 0 {
		first := uint32(len(t.blocks) * rootsAtOnce) //nolint:gosec // as many as memory holds
		t.blocks = append(t.blocks, make([]root, rootsAtOnce))
		for n := first + rootsAtOnce; n > first; n-- {
			t.free = append(t.free, n-1)
		}
	}
	last := len(t.free) - 1
	n := t.free[last]
	t.free = t.free[:last]
	return n
}

// close keeps the answer of a root.
func (t *roots) close(r *root, answer passage) {
	r.stage, r.answer = answered, answer
	t.ends.push(expiry{at: r.until, root: r.number})
}

// prolong raises the until of a root.
func (t *roots) prolong(r *root, until int64) {
	if until <= r.until {
		return
	}
	if r.until = until; r.stage == answered {
		t.ends.push(expiry{at: until, root: r.number})
	}
}

// stands reports whether an expiry still counts. One with an older until comes
// before that which counts, so it never meets another root in the same place.
func (t *roots) stands(e expiry) bool {
	r := t.at(e.root)
	return r.stage == answered && r.until == e.at
}

// forget drops those that are done and whose until is before a time.
func (t *roots) forget(before int64) {
	for t.ends.due(before) {
		e := t.ends.pop()
		if t.stands(e) {
			t.drop(t.at(e.root))
		}
	}
}

func (t *roots) drop(r *root) {
	t.index.remove(hashOf(r.id), r.number+1)
	t.archive.drop(r.answer)
	t.free = append(t.free, r.number)
	r.stage = vacant
}
