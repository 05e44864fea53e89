package runtime

import (
	"fmt"
	"strconv"

	"github.com/backstay-go/backstay/actors/journal"
)

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
		inc.node.publishDead(m, func(_ journal.Place, err error) {
			if err != nil {
				inc.node.report(Event{Kind: OutputLost, Partition: inc.self, Offset: s.offset, Err: fmt.Errorf("runtime: dead letter: %w", err)})
			}
		})
	}
	inc.skipped = nil
}
