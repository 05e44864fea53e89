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

// appointment is something to look at. It may be out of date when its time
// comes: whoever looks decides by the state.
type appointment struct {
	at    int64
	what  due
	id    record.ID
	actor string
	name  string
	tick  int64 // of a reminder: when it is set for
	dest  *sender
}

// agenda has appointments, the earliest first: a binary heap.
type agenda []appointment

// first is when the next appointment is due.
func (g agenda) first() (at int64, ok bool) {
	if len(g) == 0 {
		return 0, false
	}
	return g[0].at, true
}

func (g *agenda) add(x appointment) {
	*g = append(*g, x)
	h := *g
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

// next takes the earliest appointment off, if it is due.
func (g *agenda) next(now int64) (appointment, bool) {
	h := *g
	if len(h) == 0 || h[0].at > now {
		return appointment{}, false
	}
	x := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h[last] = appointment{}
	*g = h[:last]
	g.sink()
	return x, true
}

func (g agenda) sink() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(g) {
			return
		}
		if right := least + 1; right < len(g) && g[right].at < g[least].at {
			least = right
		}
		if g[i].at <= g[least].at {
			return
		}
		g[i], g[least] = g[least], g[i]
		i = least
	}
}
