package runtime

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/backstay-go/backstay/actors/journal"
)

// inter publishes a dead letter: without what makes it long, if it is too large
// for the brokers with that. done is called once, from anywhere.
func (n *Node) inter(m journal.Message, done func(journal.Place, error)) {
	n.log.Publish(m, func(at journal.Place, err error) {
		if errors.Is(err, journal.ErrTooLarge) {
			if short, shorter := abridged(m); shorter {
				n.log.Publish(short, done)
				return
			}
		}
		done(at, err)
	})
}

// longestHeader is how many bytes a header has at most that an abridged letter
// keeps: what the letter itself has to say is shorter.
const longestHeader = 4 * longestDetail

// abridged is a letter without its value and its long headers, baggage for
// example, and says how many bytes those have. It reports false if there are none.
// Whom a letter is about is no letter without.
func abridged(m journal.Message) (short journal.Message, shorter bool) {
	left := len(m.Value)
	short = m
	short.Value, short.Headers = nil, nil
	for _, h := range m.Headers {
		if len(h.Value) > longestHeader && h.Name != HeaderActor {
			left += len(h.Value)
			continue
		}
		short.Headers = append(short.Headers, h)
	}
	short.Headers = append(short.Headers, header(HeaderLeftOut, strconv.Itoa(left)))
	return short, left > 0
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
		inc.node.letters.Add(1)
		m := journal.Message{
			Topic: inc.node.config.DeadTopic, Key: inc.self.String(), Value: s.data,
			Headers: []journal.Header{
				header(HeaderReason, ReasonUndecodable), header(HeaderDetail, s.err.Error()),
				header(HeaderSource, inc.self.String()), header(HeaderOffset, strconv.FormatInt(s.offset, 10)),
			},
		}
		inc.node.lament(m)
		inc.node.inter(m, func(_ journal.Place, err error) {
			if err != nil {
				inc.node.report(Event{Kind: OutputLost, Partition: inc.self, Offset: s.offset, Err: fmt.Errorf("runtime: dead letter: %w", err)})
			}
		})
	}
	inc.skipped = nil
}
