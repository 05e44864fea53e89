package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// courier publishes the messages of one partition of actors exactly once. One
// goroutine runs it, for as long as there is something to do; it rests when there
// was nothing for a while, as where the partition has moved.
type courier struct {
	egress  *egress
	from    journal.Partition
	open    func(ctx context.Context) (session, error)
	route   func(*sending) error
	tell    func(topic string, err error)
	largest int // bytes of a record
	wake    chan struct{}
	queue   []*consignment // guarded by the egress, as working
	working bool           // a goroutine runs it

	session session           // nil: none is open
	last    map[string]uint64 // of topics: the number up to which all is committed, as the session knows
	next    map[string]uint64 // of topics: the number after the last one that was committed here, or the first that was asked for
	owing   map[string]bool   // topics with messages that have failed: they are asked for again
	alone   map[string]bool   // topics whose brokers have refused a message for its size: to find out which
}

// session is what a courier does at the brokers. To open one ends those that
// others have opened for the same partition.
type session interface {
	// committed is the number of the last message to a topic that was committed,
	// and false if it is not known.
	committed(ctx context.Context, topic string) (uint64, bool, error)
	// transact commits messages to a topic, together with the number of the
	// last one. After an error it is of no more use; they may be committed.
	transact(ctx context.Context, topic string, all []*sarama.ProducerMessage, last uint64) error
	close()
}

func (l *Log) courier(from journal.Partition) *courier {
	r := &router{client: l.client, missed: make(map[string]miss)}
	return &courier{
		egress: l.egress, from: from, route: r.route, largest: l.publisher.largest, wake: make(chan struct{}, 1),
		open: func(ctx context.Context) (session, error) { return l.openTransactions(ctx, from) },
		tell: func(topic string, err error) {
			l.vitals.note(vital{part: "publish", topic: topic, partition: noPartition, cause: "exactly once from " + from.String()}, err)
		},
		next: make(map[string]uint64), owing: make(map[string]bool), alone: make(map[string]bool),
	}
}

const (
	// idleFor is after what time without messages a courier gives its
	// connections back.
	idleFor = time.Minute
	// load is how many messages a transaction has at most.
	load = 256
)

func (c *courier) hurry() {
	select {
	case c.wake <- struct{}{}:
	default: // it is awake
	}
}

func (c *courier) run(ctx context.Context) {
	for c.await(ctx) {
		for batch := c.egress.next(c); len(batch) > 0; batch = c.egress.next(c) {
			c.deliver(ctx, batch)
		}
	}
}

// await waits for something to do, and reports whether there may be.
func (c *courier) await(ctx context.Context) bool {
	idle := time.NewTimer(idleFor)
	defer idle.Stop()
	select {
	case <-c.wake:
		return true
	case <-idle.C:
	case <-ctx.Done():
		for batch := c.egress.next(c); len(batch) > 0; batch = c.egress.next(c) {
			c.end(batch, fmt.Errorf("kafka: %w", journal.ErrClosed))
		}
	}
	c.drop()
	return !c.egress.dismiss(c)
}

// deliver publishes what waits for a topic.
func (c *courier) deliver(ctx context.Context, batch []*consignment) {
	topic := batch[0].Topic
	if _, known := c.next[topic]; !known {
		c.next[topic] = batch[0].number
	}
	last, err := c.committed(ctx, topic)
	if err == nil {
		var fresh []*sarama.ProducerMessage
		if batch, fresh = c.sift(batch, last+1); len(fresh) == 0 {
			return
		}
		last += uint64(len(fresh))
		err = c.blame(topic, len(fresh), c.session.transact(ctx, topic, fresh, last))
	}
	switch {
	case err == nil:
		c.last[topic], c.next[topic] = last, last+1
		delete(c.owing, topic)
	case ctx.Err() != nil:
		err = fmt.Errorf("kafka: %w", journal.ErrClosed)
	default:
		err = explain("publishing to "+topic+" exactly once", err)
	}
	c.tell(topic, err)
	if err != nil {
		c.owing[topic] = true
		c.drop() // the next session finds out what was committed
	}
	c.end(batch, err)
}

// blame finds out which message is too large for the brokers: after a transaction
// that was refused for that the next one has one message. Such a transaction was
// not committed.
func (c *courier) blame(topic string, n int, err error) error {
	refused := errors.Is(err, sarama.ErrMessageSizeTooLarge)
	c.alone[topic] = refused
	if refused && n == 1 {
		return fmt.Errorf("%w: %w", journal.ErrTooLarge, err)
	}
	return err
}

// committed is the number up to which all messages to a topic are committed.
// Where the brokers do not know, since nothing was for as long as they keep it,
// all is that comes before what was committed here, or asked for first: a
// partition begins with the first that it does not know to be delivered.
func (c *courier) committed(ctx context.Context, topic string) (uint64, error) {
	if c.session == nil {
		s, err := c.open(ctx)
		if err != nil {
			return 0, err
		}
		c.session, c.last = s, make(map[string]uint64)
	}
	if last, known := c.last[topic]; known {
		return last, nil
	}
	last, known, err := c.session.committed(ctx, topic)
	if err != nil {
		return 0, err
	}
	if !known {
		last = c.next[topic] - 1
	}
	c.last[topic] = last
	return last, nil
}

// errGap: one before it was not published.
var errGap = errors.New("kafka: a message before this one is not published yet")

// sift chooses the messages that come next, and returns them with their copies,
// which end as they do. It ends the rest: those that are committed, and those that
// cannot be now.
func (c *courier) sift(batch []*consignment, next uint64) (all []*consignment, fresh []*sarama.ProducerMessage) {
	first := next
	for _, m := range batch {
		switch {
		case m.number < first:
			delete(c.owing, m.Topic)
			c.egress.end(m, nil)
			continue
		case m.number > next || c.alone[m.Topic] && len(fresh) > 0 && m.number == next:
			c.egress.end(m, errGap)
			c.owing[m.Topic] = true
			delete(c.last, m.Topic) // others may have published those between, and this session does not know
			continue
		case m.number == next:
			if err := c.check(m); err != nil {
				c.owing[m.Topic] = true
				c.egress.end(m, err)
				continue
			}
			fresh = append(fresh, &m.ProducerMessage)
			next++
		}
		all = append(all, m)
	}
	return all, fresh
}

// check chooses the partition of a message, or says why it cannot be published.
func (c *courier) check(m *consignment) error {
	if m.size > c.largest {
		return fmt.Errorf("%w: %d bytes for %s, more than %d", journal.ErrTooLarge, m.size, m.Topic, c.largest)
	}
	err := c.route(m.sending)
	if err != nil {
		c.tell(m.Topic, err)
	}
	return err
}

func (c *courier) end(batch []*consignment, err error) {
	for _, m := range batch {
		c.egress.end(m, err)
	}
}

func (c *courier) drop() {
	if c.session != nil {
		c.session.close()
		c.session = nil
	}
}
