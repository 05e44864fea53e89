package produce

import (
	"math"
	"time"

	"github.com/IBM/sarama"
)

// partition is what is to be sent to one.
type partition struct {
	topic *topic
	index int32

	place    place
	lane     *lane // of its leader, as far as that is known
	queue    []waiting
	batch    *Batch // was sent, and not answered in a way that ends it
	identity Identity
	next     int32 // number of the next record under the identity
	most     int   // records of a batch, 0 for as many as fit in: grows back after one that was too large

	// After a failure, until something has landed.
	failing  time.Time // when it began
	err      error
	tries    int
	misled   bool // the leader must be asked for
	disowned bool // the identity must be another
}

// plenty are so many records that their number is no bound.
const plenty = 1 << 16

// waiting is a record that was not sent.
type waiting struct {
	*sarama.ProducerMessage
	size  int
	since time.Time // zero: before anything failed

	doubtful bool // it was in a batch that may have landed
}

// place is where a partition is.
type place int

const (
	idle  place = iota // nothing is to be sent
	lined              // in the line of its lane
	out                // its batch is
	lost               // without a leader or an identity
)

// Size is how many bytes a record has on its way, at most.
func Size(m *sarama.ProducerMessage) int {
	const version = 2 // of records, since Kafka 0.11
	return m.ByteSize(version)
}

func (part *partition) add(m *sarama.ProducerMessage, size int) {
	w := waiting{ProducerMessage: m, size: size}
	if part.err != nil {
		w.since = time.Now()
	}
	part.queue = append(part.queue, w)
}

// pack returns what is to be sent next: what was, as it was; else of the oldest
// records as many as go into a batch, one at least.
func (part *partition) pack(limit int) *Batch {
	if part.batch != nil {
		return part.batch
	}
	n, bytes := 1, part.queue[0].size
	for n < len(part.queue) && n != part.most && bytes+part.queue[n].size <= limit {
		bytes += part.queue[n].size
		n++
	}
	part.batch = &Batch{
		Topic: part.topic.name, Partition: part.index, Records: make([]*sarama.ProducerMessage, n),
		Identity: part.identity, First: part.next, of: part, bytes: bytes, since: part.queue[0].since,
	}
	for i, w := range part.queue[:n] {
		part.batch.Records[i] = w.ProducerMessage
		part.batch.doubtful = part.batch.doubtful || w.doubtful
	}
	part.drop(n)
	return part.batch
}

// drop forgets the oldest that wait.
func (part *partition) drop(n int) {
	rest := copy(part.queue, part.queue[n:])
	clear(part.queue[rest:])
	part.queue = part.queue[:rest]
}

// landed: the batch is appended.
func (part *partition) landed(b *Batch) {
	part.next = (b.First + int32(len(b.Records))) & math.MaxInt32 //nolint:gosec // a count; after the last number comes zero
	if part.most *= 2; part.most > plenty {
		part.most = 0
	}
	part.batch, part.err, part.tries = nil, nil, 0
}

// refuse: the batch will not be tried again. If it may have landed, nobody knows
// what number comes next under this identity.
func (part *partition) refuse() {
	part.disowned = part.disowned || part.batch.doubtful
	part.batch = nil
}

// divide puts the records of the batch back, to send half of them.
func (part *partition) divide() {
	b := part.batch
	part.most = len(b.Records) / 2
	part.batch = nil
	queue := make([]waiting, 0, len(b.Records)+len(part.queue))
	for _, m := range b.Records {
		queue = append(queue, waiting{ProducerMessage: m, size: Size(m), since: b.since, doubtful: b.doubtful})
	}
	part.queue = append(queue, part.queue...)
}

// fail notes a failure that may pass.
func (part *partition) fail(err error) {
	if part.err == nil {
		part.failing = time.Now()
	}
	part.err = err
	part.tries++
}

// failingFor is for how long it has failed.
func (part *partition) failingFor(now time.Time) time.Duration {
	if part.err == nil {
		return 0
	}
	return now.Sub(part.failing)
}

// own takes another identity over; what was sent under the one before is sent
// again, and may be there twice then.
func (part *partition) own(id Identity) {
	part.identity, part.next, part.disowned = id, 0, false
	if b := part.batch; b != nil {
		b.Identity, b.First = id, 0
	}
}

// overdue takes the records that have failed since before a time.
func (part *partition) overdue(before time.Time) (all []*sarama.ProducerMessage) {
	if part.err == nil || part.failing.After(before) {
		return nil
	}
	if part.batch != nil && !part.batch.since.After(before) {
		all = part.batch.Records
		part.refuse()
	}
	n := 0
	for part.batch == nil && n < len(part.queue) && !part.queue[n].since.After(before) {
		all = append(all, part.queue[n].ProducerMessage)
		n++
	}
	part.drop(n)
	return all
}

// empty reports whether nothing is to be sent.
func (part *partition) empty() bool { return part.batch == nil && len(part.queue) == 0 }
