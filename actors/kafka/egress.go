package kafka

import (
	"fmt"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/produce"
)

// egress is what is published exactly once.
//
// The messages of a partition of actors to a topic are numbered without gaps, and
// which message has a number is a function of the partition's log: whoever owns
// the partition, or believes so, would publish the same. They go out in
// transactions whose id is that of the partition, and each transaction commits,
// together with messages, the number of the last one, as an offset of the group
// App.egress.TOPIC. Who begins to publish for a partition ends, by that id, the
// transactions of all before it, and only then reads the number: from then on
// nobody else can commit, unless he begins anew and reads it in his turn. So
// every number is committed once, after all that are below it.
type egress struct {
	topics map[string]bool // as actors name them
	hire   func(from journal.Partition) *courier

	mu             sync.Mutex
	couriers       map[journal.Partition]*courier
	records, bytes int // that wait, or are under way
}

func newEgress(topics []string, hire func(from journal.Partition) *courier) *egress {
	e := &egress{topics: make(map[string]bool), hire: hire, couriers: make(map[journal.Partition]*courier)}
	for _, t := range topics {
		e.topics[t] = true
	}
	return e
}

// carries reports whether a message is to be published exactly once.
func (e *egress) carries(m *journal.Message) bool { return m.Number > 0 && e.topics[m.Topic] }

// consignment is a message on its way.
type consignment struct {
	*sending
	from   journal.Partition
	number uint64
}

// consign hands a message to the courier of its partition.
func (l *Log) consign(c *consignment) {
	c.size = produce.Size(&c.ProducerMessage)
	if err := l.dispatch(c); err != nil {
		c.done(journal.Place{}, err)
	}
}

func (l *Log) dispatch(c *consignment) error {
	l.mu.RLock() // so that Close waits for what is begun here
	defer l.mu.RUnlock()
	if l.closed {
		return fmt.Errorf("kafka: %w", journal.ErrClosed)
	}
	e := l.egress
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bytes+c.size > l.config.QueueBytes && e.bytes > 0 {
		return fmt.Errorf("%w: %d bytes to be published exactly once", ErrQueueFull, e.bytes)
	}
	e.records++
	e.bytes += c.size
	courier := e.couriers[c.from]
	if courier == nil {
		courier = e.hire(c.from)
		e.couriers[c.from] = courier
	}
	if !courier.working {
		courier.working = true
		l.work.Go(func() { courier.run(l.ctx) })
	}
	courier.queue = append(courier.queue, c)
	courier.hurry()
	return nil
}

// next takes what waits for one topic, the oldest first, as much as goes into a
// transaction.
func (e *egress) next(of *courier) (batch []*consignment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var rest []*consignment
	for _, c := range of.queue {
		if len(batch) < load && (len(batch) == 0 || c.Topic == batch[0].Topic) {
			batch = append(batch, c)
		} else {
			rest = append(rest, c)
		}
	}
	of.queue = rest
	return batch
}

// dismiss lets a courier rest that has nothing to do, and reports whether that is
// so. It is let go of, unless it owes messages: then it must not forget at what
// number they begin.
func (e *egress) dismiss(c *courier) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(c.queue) > 0 {
		return false
	}
	if c.working = false; len(c.owing) == 0 {
		delete(e.couriers, c.from)
	}
	return true
}

// end tells how a message has ended.
func (e *egress) end(c *consignment, err error) {
	e.mu.Lock()
	e.records--
	e.bytes -= c.size
	e.mu.Unlock()
	c.done(journal.Place{}, err)
}

func (e *egress) waiting() (records, bytes int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.records, e.bytes
}
