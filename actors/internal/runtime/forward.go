package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

const (
	// window is how many sends to one destination are open at once.
	window = 256
	// forwardedEvery is after how many deliveries they are put on record, at
	// the latest; forwardedAfter is how long the last few wait for that.
	forwardedEvery = 256
	forwardedAfter = time.Second
)

// sender forwards the outputs to one destination, in order and at least once.
type sender struct {
	inc     *incarnation
	dest    record.Dest
	waiting []parcel // not delivered, the oldest first
	sent    int      // so many of them are under way
	run     uint64   // counts the times it began anew: acknowledgements of older runs do not count
	last    int64    // offset of the last one delivered
	bytes   int64
	over    bool // bytes are above the limit

	delivered, recorded uint64 // numbers: delivered, and known to be by the log

	failures int
	resting  bool    // waits before it tries again, for a burial, or for an Undeliverable to be applied
	burial   *burial // of a tell that is refused, nil if there is none

	watched bool   // an appointment is made to look whether anything was delivered
	seen    uint64 // what was, when it was made
}

// parcel is an output under way.
type parcel struct {
	number uint64
	data   []byte
	letter *journal.Message
	offset int64
	acked  bool
	dead   bool // letter is a dead one
}

func (p *parcel) size() int64 {
	if p.letter != nil {
		return int64(len(p.letter.Value)) + overhead
	}
	return int64(len(p.data))
}

// output takes an output of an applied record (R2).
func (inc *incarnation) output(o machine.Output) {
	s := inc.senders[o.Dest]
	if s == nil {
		s = &sender{inc: inc, dest: o.Dest, last: -1, delivered: o.Number - 1, recorded: o.Number - 1}
		inc.senders[o.Dest] = s
	}
	p := inc.parcel(o)
	if n := len(s.waiting); n > 0 && o.Number <= s.waiting[n-1].number { // an Empty in the place of what was given up
		s.replace(p)
		return
	}
	s.waiting = append(s.waiting, p)
	s.weigh(p.size())
	s.send()
}

func (inc *incarnation) parcel(o machine.Output) parcel {
	p := parcel{number: o.Number}
	if o.Dest.Topic != "" {
		p.letter, p.dead = inc.letter(o)
		return p
	}
	p.data = encode(&record.Mail{Source: inc.self, Number: o.Number, Message: o.Message})
	return p
}

// replace puts p where the output of its number was, and goes on from there.
func (s *sender) replace(p parcel) {
	for i := range s.waiting {
		if s.waiting[i].number == p.number {
			s.weigh(p.size() - s.waiting[i].size())
			s.waiting[i] = p
		}
	}
	s.resting = false
	s.again()
}

// send sends what the window has room for. Later ones are sent before earlier
// ones are acknowledged: the receiver takes them in the order of their numbers.
func (s *sender) send() {
	s.watch()
	for !s.resting && s.sent < len(s.waiting) && s.sent < window {
		p := &s.waiting[s.sent]
		s.sent++
		g := &posting{sender: s, run: s.run, number: p.number}
		switch {
		case p.dead:
			s.inc.node.publishDead(*p.letter, g.done)
			continue
		case p.letter != nil:
			s.inc.node.log.Publish(*p.letter, g.done)
			continue
		}
		to := journal.Partition{Type: s.dest.Partition.Type, Index: s.dest.Partition.Index}
		s.inc.node.log.Append(to, p.data, g.done)
	}
}

// watch has somebody look whether sends were answered at all.
func (s *sender) watch() {
	if s.watched || len(s.waiting) == 0 {
		return
	}
	s.watched, s.seen = true, s.delivered
	s.inc.agenda.add(appointment{at: s.inc.now + s.inc.node.config.Patience.Milliseconds(), what: dueAnswer, subject: subject{dest: s}})
}

// look sends again what nobody has answered: copies are void.
func (s *sender) look() {
	s.watched = false
	if s.sent > 0 && s.seen == s.delivered {
		s.again()
		return
	}
	s.watch()
}

// posting is one send under way.
type posting struct {
	sender *sender
	run    uint64
	number uint64
	offset int64
	err    error
}

func (g *posting) done(place journal.Place, err error) {
	g.offset, g.err = place.Offset, err
	g.sender.inc.post(g)
}

func (g *posting) happen(*incarnation) {
	s := g.sender
	if g.run != s.run {
		return
	}
	if g.err != nil {
		s.failed(g)
		return
	}
	for i := range s.waiting[:s.sent] {
		if s.waiting[i].number == g.number {
			s.waiting[i].acked, s.waiting[i].offset = true, g.offset
		}
	}
	s.deliver()
}

// deliver takes off what is delivered: what is acknowledged, with all before
// it, at a higher offset than the one before it. If the log has turned two
// round, the second was ignored as a gap: it is sent again, with all behind it
// (H14, R13).
func (s *sender) deliver() {
	for len(s.waiting) > 0 && s.waiting[0].acked {
		p := &s.waiting[0]
		if p.letter == nil && p.offset <= s.last {
			s.again()
			return
		}
		s.last, s.delivered = p.offset, p.number
		s.weigh(-p.size())
		s.waiting[0] = parcel{}
		s.waiting = s.waiting[1:]
		s.sent--
		s.failures = 0
	}
	if s.delivered-s.recorded >= forwardedEvery {
		s.record()
	} else {
		s.inc.recordLater()
	}
	s.send()
}

// again sends everything that is not delivered once more.
func (s *sender) again() {
	s.run++
	s.sent = 0
	for i := range s.waiting {
		s.waiting[i].acked = false
	}
	s.send()
}

// failed tries again after a while, everything from the first that is not
// delivered (R13); what will never be taken is given up (H20).
func (s *sender) failed(g *posting) {
	s.run++
	s.resting = true
	if code := forGood(g.err); code != "" {
		s.giveUp(g.number, record.Failure{Code: code, Message: g.err.Error()})
		return
	}
	s.rest(s.dest, g.err)
}

// rest waits before it tries again to send something to a destination.
func (s *sender) rest(to record.Dest, err error) {
	const base, longest = 10, 1000 // ms
	wait := min(int64(base)<<min(s.failures, 10), longest)
	s.failures++
	s.resumeIn(wait)
	s.inc.node.report(Event{
		Kind: AppendFailed, Partition: s.inc.self, Epoch: s.inc.epoch, Name: to.String(),
		Err: fmt.Errorf("runtime: sending to %v, to be tried again: %w", to, err), Wait: time.Duration(wait) * time.Millisecond,
	})
}

func (s *sender) resumeIn(wait int64) {
	s.inc.agenda.add(appointment{at: s.inc.now + wait, what: dueSend, subject: subject{dest: s}})
}

func (s *sender) resume() {
	if s.burial != nil {
		s.burial.try()
		return
	}
	s.resting = false
	s.again()
}

// weigh counts bytes, and holds back new requests while there are too many.
func (s *sender) weigh(d int64) {
	s.bytes += d
	limit := s.inc.node.config.OutboxBytes
	switch {
	case !s.over && s.bytes > limit:
		s.over = true
		s.inc.congested++
		s.inc.node.report(Event{Kind: Congested, Partition: s.inc.self, Epoch: s.inc.epoch, Name: s.dest.String(), Err: errCongested})
	case s.over && s.bytes <= limit/2:
		s.over = false
		s.inc.congested--
		s.inc.node.report(Event{Kind: Congested, Partition: s.inc.self, Epoch: s.inc.epoch, Name: s.dest.String()})
		s.inc.unstall()
	}
}

var errCongested = errors.New("runtime: too much waits to be forwarded")

// unstall looks again at the actors that could not begin.
func (inc *incarnation) unstall() {
	if inc.congested > 0 {
		return
	}
	for actor := range inc.stalled {
		inc.touch(actor)
	}
	clear(inc.stalled)
}

// record says in the log what was delivered, so that the next owner does not
// send it again and the state can drop it.
func (s *sender) record() {
	s.recorded = s.delivered
	s.inc.try(&record.Forwarded{Epoch: s.inc.epoch, Dest: s.dest, Number: s.delivered}, nil)
}

// recordLater has it said within a second.
func (inc *incarnation) recordLater() {
	if inc.forwarding {
		return
	}
	inc.forwarding = true
	inc.agenda.add(appointment{at: inc.now + forwardedAfter.Milliseconds(), what: dueForward})
}

// recordForwarded says it for every destination.
func (inc *incarnation) recordForwarded() {
	for _, s := range inc.senders {
		if s.delivered > s.recorded {
			s.record()
		}
	}
}
