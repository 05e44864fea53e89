package runtime

import (
	"fmt"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// Headers of messages to ordinary topics.
const (
	// HeaderSource and HeaderNumber tell copies apart: of one source partition
	// a consumer drops what has no higher number than the last (R49).
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
	HeaderBaggage  = "backstay-baggage"
	HeaderOffset   = "backstay-offset"
)

// letter is an output to an ordinary topic as a message.
func (inc *incarnation) letter(o machine.Output) *journal.Message {
	m := &journal.Message{Topic: o.Dest.Topic}
	if l, ok := o.Message.(*record.Letter); ok { // else an Empty, whose number alone matters
		m.Key, m.Value = l.Key, l.Value
		for _, h := range l.Headers {
			m.Headers = append(m.Headers, journal.Header{Name: h.Name, Value: h.Value})
		}
		if l.Dead != nil {
			dead(m, l.Dead)
		}
	}
	m.Headers = append(m.Headers, header(HeaderSource, inc.self.String()), header(HeaderNumber, strconv.FormatUint(o.Number, 10)))
	return m
}

// dead tells what became of a request.
func dead(m *journal.Message, d *record.Dead) {
	r := &d.Request
	m.Value = r.Args
	m.Headers = append(m.Headers,
		header(HeaderReason, d.Reason),
		header(HeaderActor, r.Target.Type+"/"+r.Target.Actor),
		header(HeaderMethod, r.Method),
		header(HeaderRequest, r.ID.String()),
		header(HeaderKey, r.IdempotencyKey()),
		header(HeaderAttempts, strconv.FormatUint(d.Attempts, 10)),
		header(HeaderQueued, strconv.FormatInt(d.Queued, 10)),
		header(HeaderGivenUp, strconv.FormatInt(d.At, 10)),
		header(HeaderWaited, strconv.FormatInt(d.At-d.Queued, 10)),
		journal.Header{Name: HeaderBaggage, Value: r.Baggage},
	)
}

func header(name, value string) journal.Header {
	return journal.Header{Name: name, Value: []byte(value)}
}

// skipped is a record that could not be decoded (A59).
type skipped struct {
	offset int64
	data   []byte
	err    error
}

// bury keeps a record that could not be decoded for the dead letters; they are
// written by an owner, not by everybody who reads.
func (inc *incarnation) bury(s skipped) {
	inc.skipped = append(inc.skipped, s)
	if !inc.owned.IsZero() {
		inc.buryAll()
	}
}

// buryAll writes the dead letters of such records: at least once, told apart by
// their offsets. The partition goes on whatever becomes of them.
func (inc *incarnation) buryAll() {
	for _, s := range inc.skipped {
		inc.node.report(Event{Kind: RecordSkipped, Partition: inc.self, Epoch: inc.epoch, Offset: s.offset, Err: s.err})
		if inc.node.config.DeadTopic == "" {
			continue
		}
		inc.node.log.Publish(journal.Message{
			Topic: inc.node.config.DeadTopic, Key: inc.self.String(), Value: s.data,
			Headers: []journal.Header{
				header(HeaderReason, "undecodable"), header(HeaderSource, inc.self.String()), header(HeaderOffset, strconv.FormatInt(s.offset, 10)),
			},
		}, func(_ journal.Place, err error) {
			if err != nil {
				inc.node.report(Event{Kind: OutputLost, Partition: inc.self, Offset: s.offset, Err: fmt.Errorf("runtime: dead letter: %w", err)})
			}
		})
	}
	inc.skipped = nil
}
