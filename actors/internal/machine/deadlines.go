package machine

// deadlines has expiries, the earliest first. It is no part of the state: the
// roots say all that it says. Clients' clocks go on, so most come in order, and
// a line does; the others are in a heap.
type deadlines struct {
	line []expiry
	gone int // of the line, at its front
	rest expiries
}

func (d *deadlines) push(e expiry) {
	if n := len(d.line); n > d.gone && e.at < d.line[n-1].at {
		d.rest.push(e)
		return
	}
	if len(d.line) == cap(d.line) {
		d.makeRoom()
	}
	d.line = append(d.line, e)
}

// makeRoom moves the line up, or on to twice the room: append adds a quarter at a
// time to a long one, so that it would copy four times as many in all.
func (d *deadlines) makeRoom() {
	to := d.line[:0]
	if 2*d.gone <= len(d.line) {
		to = make([]expiry, 0, max(2*len(d.line), rootsAtOnce))
	}
	to = append(to, d.left()...)
	d.line, d.gone = to, 0
}

// left are those of the line that were not taken off.
func (d *deadlines) left() []expiry { return d.line[d.gone:] }

// due reports whether the earliest is before a time.
func (d *deadlines) due(before int64) bool {
	return d.gone < len(d.line) && d.line[d.gone].at < before || len(d.rest) > 0 && d.rest[0].at < before
}

// pop takes off the earliest.
func (d *deadlines) pop() expiry {
	if d.gone == len(d.line) || len(d.rest) > 0 && d.rest[0].at < d.line[d.gone].at {
		return d.rest.pop()
	}
	d.gone++
	return d.line[d.gone-1]
}

// expiries is a binary heap. It is not container/heap's, which would
// allocate for every element.
type expiries []expiry

func (h *expiries) push(e expiry) {
	all := append(*h, e)
	*h = all
	for i := len(all) - 1; i > 0; {
		parent := (i - 1) / 2
		if all[parent].at <= all[i].at {
			return
		}
		all[parent], all[i] = all[i], all[parent]
		i = parent
	}
}

func (h *expiries) pop() expiry {
	all := *h
	first, last := all[0], len(all)-1
	all[0] = all[last]
	all = all[:last]
	*h = all
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			return first
		}
		if right := least + 1; right < last && all[right].at < all[least].at {
			least = right
		}
		if all[i].at <= all[least].at {
			return first
		}
		all[i], all[least] = all[least], all[i]
		i = least
	}
}
