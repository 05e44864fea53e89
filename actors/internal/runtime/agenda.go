package runtime

import "github.com/backstay-go/backstay/actors/internal/record"

// due says what is to be looked at when a time has come.
type due uint8

const (
	dueDeadline due = iota // a request may expire
	dueRetry               // a request may be tried again
	dueBusy                // a request may have waited too long
	dueReminder            // a reminder, or a delayed request, is to be fired
	dueForward             // what was delivered is to be put on record
	dueSend                // a destination is to be tried again
	dueLoad                // cells are to be loaded, again
	dueAnswer              // a destination may not have acknowledged anything for long
	dueRevoke              // calls of an attempt are to be revoked, again
)

const kindsOfDue = int(dueRevoke) + 1

// subject is what an appointment is about.
type subject struct {
	id    record.ID
	actor string
	name  string
	dest  *sender
}

// appointment is something to look at. It may be out of date when its time
// comes: whoever looks decides by the state.
type appointment struct {
	at   int64
	what due
	subject
	tick int64 // of a reminder: when it is set for
}

// agenda has appointments, one of a kind for each subject, and gives the
// earliest first. It is a binary heap, in which those that were moved or
// cancelled stay until there are more of them than others: so it is bounded by
// what is pending, not by what ever was.
type agenda struct {
	heap []appointment
	kept [kindsOfDue]map[subject]promise
	live int // in kept
}

// promise tells the appointment that counts from those that did before.
type promise struct{ at, tick int64 }

// fewAppointments are not worth clearing up.
const fewAppointments = 64

// first is when the next appointment is due.
func (g *agenda) first() (at int64, ok bool) {
	for len(g.heap) > 0 && !g.stands(&g.heap[0]) {
		g.pop()
	}
	if len(g.heap) == 0 {
		return 0, false
	}
	return g.heap[0].at, true
}

// add makes an appointment, in the place of one of its kind for its subject.
func (g *agenda) add(x appointment) {
	kept := g.kept[x.what]
	if kept == nil {
		kept = make(map[subject]promise)
		g.kept[x.what] = kept
	}
	p := promise{x.at, x.tick}
	old, is := kept[x.subject]
	if is && old == p {
		return
	}
	if kept[x.subject] = p; !is {
		g.live++
	}
	g.push(x)
	g.clearUp()
}

// cancel takes back an appointment, if there is one.
func (g *agenda) cancel(what due, of subject) {
	kept := g.kept[what]
	if len(kept) == 0 {
		return
	}
	if _, is := kept[of]; is {
		delete(kept, of)
		g.live--
		g.clearUp()
	}
}

// next takes the earliest appointment off, if it is due.
func (g *agenda) next(now int64) (appointment, bool) {
	if len(g.heap) == 0 || g.heap[0].at > now { // mostly, and whether it stands need not be asked
		return appointment{}, false
	}
	if at, ok := g.first(); !ok || at > now {
		return appointment{}, false
	}
	x := g.pop()
	delete(g.kept[x.what], x.subject)
	g.live--
	return x, true
}

// stands reports whether an appointment of the heap still counts.
func (g *agenda) stands(x *appointment) bool {
	p, is := g.kept[x.what][x.subject]
	return is && p == promise{x.at, x.tick}
}

// clearUp drops those that do not count, if they are more than half.
func (g *agenda) clearUp() {
	if len(g.heap) > fewAppointments && len(g.heap) > 2*g.live {
		g.renew(0)
	}
}

// renew makes all appointments anew that still count, by so much earlier where
// they are about a wait: the clock that they go by was set back.
func (g *agenda) renew(back int64) {
	old := g.heap
	g.heap = make([]appointment, 0, g.live+g.live/2)
	kept := g.kept
	g.kept, g.live = [kindsOfDue]map[subject]promise{}, 0
	for i := range old {
		x := &old[i]
		if p, is := kept[x.what][x.subject]; is && p == (promise{x.at, x.tick}) {
			delete(kept[x.what], x.subject) // it may be there twice
			x.hasten(back)
			g.add(*x)
		}
	}
}

// hasten makes a wait shorter. What is due at a time that the log has is due then.
func (x *appointment) hasten(by int64) {
	switch x.what {
	case dueDeadline, dueRetry:
	case dueReminder:
		x.at = min(x.at, max(x.at-by, x.tick))
	default:
		x.at -= by
	}
}

// push puts an appointment into the heap.
func (g *agenda) push(x appointment) {
	g.heap = append(g.heap, x)
	h := g.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// pop takes the earliest off the heap.
func (g *agenda) pop() appointment {
	h := g.heap
	x, last := h[0], len(h)-1
	h[0] = h[last]
	h[last] = appointment{}
	g.heap = h[:last]
	g.sink()
	return x
}

func (g *agenda) sink() {
	h := g.heap
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && h[right].at < h[least].at {
			least = right
		}
		if h[i].at <= h[least].at {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
