package membership

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// detector judges from the log of beats who is alive. It has no clock of its
// own and does no I/O: time is what the log says.
//
// Its clock is the log's, less its silences: between two beats it advances by
// what their append times differ, at most by one interval. So it stands still
// while the broker does, when nobody can be heard, and a clock that is set
// forward makes nobody late.
type detector struct {
	self  string
	after time.Duration // silence after which a member is suspect

	clock  time.Duration
	last   int64 // append time of the latest record, in milliseconds
	begun  bool  // an own beat was read
	start  time.Duration
	raw    int64 // append time of that
	pulses map[string]*pulse
	// unheard are those of the group that no beat was read of, and from when on
	// they are ghosts.
	unheard map[string]time.Duration
}

// pulse is the last that was heard of a member.
type pulse struct {
	*beat
	heard time.Duration // by the detector's clock
	at    int64         // by the log's
}

func newDetector(self string, after time.Duration) *detector {
	return &detector{self: self, after: after, pulses: make(map[string]*pulse), unheard: make(map[string]time.Duration)}
}

// hear takes the next record of the log. at is its append time.
func (d *detector) hear(b *beat, at int64) {
	if d.last != 0 && at > d.last {
		d.clock += min(time.Duration(at-d.last)*time.Millisecond, b.interval())
	}
	d.last = at
	if b.ID == d.self && !d.begun {
		d.begun, d.start, d.raw = true, d.clock, at
	}
	delete(d.unheard, b.ID)
	if b.Gone {
		delete(d.pulses, b.ID)
		return
	}
	d.pulses[b.ID] = &pulse{beat: b, heard: d.clock, at: at}
}

// rename says that this node goes on as another instance.
func (d *detector) rename(self string) {
	delete(d.pulses, d.self)
	d.self = self
}

// suspect reports whether a member has missed three beats, or those of the
// time that is allowed. This node is never suspect to itself.
func (d *detector) suspect(p *pulse) bool {
	return p.ID != d.self && d.clock-p.heard > max(d.after, missed*p.interval())
}

// missed beats make a member suspect whose interval is long.
const missed = 3

// suspects are those that this node has reason to think dead, none before it
// hears itself: until then it reads what was.
func (d *detector) suspects() (all []string) {
	for id, p := range d.pulses {
		if d.begun && d.suspect(p) {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// others are those that are heard, beside this node, by name.
func (d *detector) others() (all []*pulse) {
	for id, p := range d.pulses {
		if id != d.self && !d.suspect(p) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *pulse) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// settled reports whether this node has listened for long enough to tell who
// has been silent since before it came.
func (d *detector) settled() bool { return d.begun && d.clock-d.start > d.after }

// expect takes in who is in the group. Who was never heard may have joined just
// now, and its beats be on their way: they were written before it joined, so they
// are read within a suspicion's time from here. The list is to be as recent as
// what was read.
func (d *detector) expect(group []string) {
	maps.DeleteFunc(d.unheard, func(id string, _ time.Duration) bool { return !slices.Contains(group, id) })
	for _, id := range group {
		if _, known := d.unheard[id]; !known && d.pulses[id] == nil && id != d.self {
			d.unheard[id] = d.clock + d.patience(len(group))
		}
	}
}

// patience is the silence that is allowed to one of n of whom nothing is known.
func (d *detector) patience(n int) time.Duration {
	every := shortest
	if own := d.pulses[d.self]; own != nil {
		every = own.interval()
	}
	return max(d.after, missed*pace(every, n))
}

// ghost reports whether a member of the group has not been heard since this
// node came, and for a good while: it died when nobody was there to see it. What
// was before this node came counts by the log's own clock, since a log in which
// nobody is left to write is silent. Who was never heard is one when there was
// time enough to hear it since it was listed first.
func (d *detector) ghost(id string) bool {
	p := d.pulses[id]
	if p == nil {
		due, listed := d.unheard[id]
		return listed && d.clock > due
	}
	if !d.settled() {
		return false
	}
	silent := time.Duration(d.raw-p.at)*time.Millisecond + d.clock - d.start
	return p.heard < d.start && silent > goodWhile*d.after
}

// goodWhile, times the silence that makes suspect, is longer than most stalls of
// a broker.
const goodWhile = 5

// quorum is the part of the group that must be heard before a node trusts its
// own ears: if more than the rest is silent, it is likelier to be this node's
// or the broker's fault.
const quorum = 3

// condemned are the members of the group that are to be removed. fresh says
// that an own beat was read back lately, so that what was read is recent. Ghosts
// are removed whatever their number: else who starts alone after everybody has
// died would have to wait.
func (d *detector) condemned(group []string, fresh bool) (dead []string) {
	if !fresh || !d.begun {
		return nil
	}
	d.expect(group)
	var ghosts []string
	trusted, size := 1, 1 // this node, whether it has joined already or not
	for _, id := range group {
		if id == d.self {
			continue
		}
		size++
		switch p := d.pulses[id]; {
		case d.ghost(id):
			ghosts = append(ghosts, id)
		case p == nil: // nobody knows yet
		case d.suspect(p):
			dead = append(dead, id)
		default:
			trusted++
		}
	}
	if trusted*quorum < size {
		return ghosts
	}
	return append(dead, ghosts...)
}

// forget drops the suspects that are not in the group: they have been removed,
// or have never come.
func (d *detector) forget(group []string) {
	maps.DeleteFunc(d.pulses, func(id string, p *pulse) bool {
		return d.suspect(p) && !slices.Contains(group, id)
	})
}
