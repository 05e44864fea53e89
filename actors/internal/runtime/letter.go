package runtime

import (
	"strconv"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// Headers of messages to ordinary topics.
const (
	// HeaderSource and HeaderNumber name a message: a consumer drops what it has
	// seen (R49). Where a send failed, one may come behind higher numbers.
	HeaderSource = "backstay-source"
	HeaderNumber = "backstay-number"
	// The others are those of dead letters, whose value is the argument of the
	// request, or the record that could not be decoded.
	HeaderReason   = "backstay-reason"
	HeaderActor    = "backstay-actor"
	HeaderMethod   = "backstay-method"
	HeaderRequest  = "backstay-request"
	HeaderKey      = "backstay-key"
	HeaderAttempts = "backstay-attempts"
	HeaderQueued   = "backstay-queued-ms"   // when it came in, by the log's clock
	HeaderGivenUp  = "backstay-given-up-ms" // when it was given up
	HeaderWaited   = "backstay-waited-ms"
	HeaderDetail   = "backstay-detail" // says more, for people
	HeaderBaggage  = "backstay-baggage"
	HeaderOffset   = "backstay-offset"
	// HeaderOrigin is where a message was that could not be ingested:
	// topic/partition/offset.
	HeaderOrigin = "backstay-origin"
	// HeaderDest is the partition whose log has refused a tell for good; the number
	// is that of the tell among what was sent there.
	HeaderDest = "backstay-dest"
	// HeaderLeftOut is how many bytes a letter is without, since with them it was too
	// large for the brokers: its value and what was long in its headers. It is the
	// last one, or is one of the message that the letter is about.
	HeaderLeftOut = "backstay-left-out"
)

// ReasonUndecodable is that of a record that could not be decoded.
const ReasonUndecodable = "undecodable"

// letter is an output to an ordinary topic as a message, and whether it is a dead
// letter.
func (inc *incarnation) letter(o machine.Output) (m *journal.Message, isDead bool) {
	m = &journal.Message{Topic: o.Dest.Topic, Source: journal.Partition{Type: inc.self.Type, Index: inc.self.Index}, Number: o.Number}
	l, ok := o.Message.(*record.Letter)
	if ok { // else an Empty, whose number alone matters
		m.Key, m.Value = l.Key, l.Value
		for _, h := range l.Headers {
			m.Headers = append(m.Headers, journal.Header{Name: h.Name, Value: h.Value})
		}
		if l.Dead != nil {
			dead(m, l.Dead)
			inc.bewail(&l.Dead.Request, l.Dead.Reason)
		}
	}
	m.Headers = append(m.Headers, header(HeaderSource, inc.self.String()), header(HeaderNumber, strconv.FormatUint(o.Number, 10)))
	if isDead = ok && l.Dead != nil; isDead {
		inc.node.lament(*m)
	}
	return m, isDead
}

// lament shows a dead letter to who wants to see them.
func (n *Node) lament(m journal.Message) {
	if n.config.Dead != nil {
		n.config.Dead(m)
	}
}

// bewail counts a dead letter, and tells. One that is sent again after a takeover
// is another one: nobody knows whether it was there before.
func (inc *incarnation) bewail(r *record.Request, reason string) {
	inc.node.letters.Add(1)
	inc.node.report(Event{
		Kind: DeadLetter, Partition: inc.self, Epoch: inc.epoch, Actor: r.Target.Actor, Method: r.Method, ID: r.ID, Code: reason,
	})
}

// dead tells what became of a request, or of a message that is none: what that
// was stays as it is.
func dead(m *journal.Message, d *record.Dead) {
	if d.Reason == machine.CodeNotIngested {
		m.Headers = append(m.Headers, header(HeaderReason, d.Reason), header(HeaderGivenUp, strconv.FormatInt(d.At, 10)))
		return
	}
	r := &d.Request
	m.Value = r.Args
	m.Headers = append(m.Headers,
		header(HeaderReason, d.Reason),
		header(HeaderActor, r.Target.Type+"/"+r.Target.Actor),
		header(HeaderMethod, r.Method),
		header(HeaderRequest, r.ID.String()),
		header(HeaderKey, r.IdempotencyKey()),
		header(HeaderAttempts, strconv.FormatUint(d.Attempts, 10)),
		header(HeaderGivenUp, strconv.FormatInt(d.At, 10)),
		header(HeaderDetail, d.Message),
		journal.Header{Name: HeaderBaggage, Value: r.Baggage},
	)
	if d.Queued > 0 { // else it has never come to its actor
		m.Headers = append(m.Headers, header(HeaderQueued, strconv.FormatInt(d.Queued, 10)), header(HeaderWaited, strconv.FormatInt(d.At-d.Queued, 10)))
	}
}

func header(name, value string) journal.Header {
	return journal.Header{Name: name, Value: []byte(value)}
}

// longestDetail bounds what is kept of a reason, in bytes.
const longestDetail = 4 << 10

// brief cuts a reason off: users put whole answers into errors, and what cannot
// be put on record would stop the partition.
func brief(reason string) string {
	if len(reason) <= longestDetail {
		return reason
	}
	return strings.ToValidUTF8(reason[:longestDetail], "") + "…"
}

// fieldBytes is what a field takes beside its bytes, at most.
const fieldBytes = 8

// weightOf is about what a letter takes in a record.
func weightOf(p *record.Posted) int {
	size := len(p.Key) + len(p.Value) + overhead
	for _, h := range p.Headers {
		size += len(h.Name) + len(h.Value) + fieldBytes
	}
	return size
}
