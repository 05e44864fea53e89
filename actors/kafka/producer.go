package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// producer sends records. In front of sarama's, whose input holds nothing, it
// has a queue, so that nobody who appends waits; behind it, it knows what is not
// answered yet, since a producer that closes forgets what waits for a retry.
type producer struct {
	part    string
	client  sarama.Client // its own; it knows what topics are like
	async   sarama.AsyncProducer
	vitals  *vitals
	largest int // bytes of a record
	bound   int // bytes that may wait

	wake    chan struct{}
	stopped chan struct{}
	idle    chan struct{} // closed: closed, and nothing is out
	feeding sync.WaitGroup
	ending  sync.WaitGroup

	mu     sync.Mutex
	queue  []*sending
	out    map[*sending]struct{}
	bytes  int
	closed bool
}

// sending is a record on its way.
type sending struct {
	sarama.ProducerMessage
	size  int
	route func(*sending) error // chooses the partition; nil: it is chosen
	done  func(journal.Place, error)
}

func newProducer(part string, brokers []string, conf *sarama.Config, bound int, v *vitals) (*producer, error) {
	client, err := sarama.NewClient(brokers, conf)
	if err != nil {
		return nil, explain("connecting a producer", err)
	}
	async, err := sarama.NewAsyncProducerFromClient(client)
	if err != nil {
		_ = client.Close() // it has nothing under way
		return nil, explain("connecting a producer", err)
	}
	p := produceOn(async, part, conf.Producer.MaxMessageBytes, bound, v)
	p.client = client
	return p, nil
}

func produceOn(async sarama.AsyncProducer, part string, largest, bound int, v *vitals) *producer {
	p := &producer{
		part: part, async: async, vitals: v, largest: largest, bound: bound,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}), idle: make(chan struct{}), out: make(map[*sending]struct{}),
	}
	p.feeding.Go(p.feed)
	p.ending.Go(p.heed)
	p.ending.Go(p.despair)
	return p
}

// sizeOf is how many bytes a record has on its way.
func sizeOf(m *sarama.ProducerMessage) int {
	const version = 2 // of records, since Kafka 0.11
	return m.ByteSize(version)
}

// send queues a record. done is called once.
func (p *producer) send(s *sending) {
	s.size = sizeOf(&s.ProducerMessage)
	s.Metadata = s
	if err := p.enqueue(s); err != nil {
		s.done(journal.Place{}, err)
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *producer) enqueue(s *sending) error {
	if s.size > p.largest {
		return fmt.Errorf("%w: %d bytes for %s, more than %d", journal.ErrTooLarge, s.size, s.Topic, p.largest)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return journal.ErrClosed
	case p.bytes+s.size > p.bound && p.bytes > 0:
		return fmt.Errorf("%w: %d bytes", ErrQueueFull, p.bytes)
	}
	p.bytes += s.size
	p.out[s] = struct{}{}
	p.queue = append(p.queue, s)
	return nil
}

// feed hands the queue over to sarama, in order.
func (p *producer) feed() {
	var batch []*sending
	for {
		select {
		case <-p.wake:
		case <-p.stopped:
			return
		}
		p.mu.Lock()
		batch, p.queue = p.queue, batch[:0]
		p.mu.Unlock()
		for i, s := range batch {
			if !p.hand(s) {
				return // Close ends what is left
			}
			batch[i] = nil
		}
	}
}

// hand hands one over, or fails it, unless the producer has stopped.
func (p *producer) hand(s *sending) bool {
	if s.route != nil {
		if !p.direct(s) {
			return true
		}
	}
	select { // what Close has ended is not sent, even if there is room
	case <-p.stopped:
		return false
	default:
	}
	select {
	case p.async.Input() <- &s.ProducerMessage:
		return true
	case <-p.stopped:
		return false
	}
}

// direct chooses the partition, or fails the record, and reports whether it could.
func (p *producer) direct(s *sending) bool {
	err := s.route(s)
	nowhere := vital{part: p.part, topic: s.Topic, partition: noPartition}
	p.vitals.note(nowhere, err)
	if err != nil {
		p.end(&s.ProducerMessage, journal.Place{}, err)
	}
	return err == nil
}

// heed takes what the brokers have acknowledged.
func (p *producer) heed() {
	for m := range p.async.Successes() {
		p.vitals.note(p.vital(m), nil)
		place := journal.Place{Offset: m.Offset}
		if !m.Timestamp.IsZero() { // else the broker has not told: of a copy, or without LogAppendTime
			place.At = m.Timestamp.UnixMilli()
		}
		p.end(m, place, nil)
	}
}

// despair takes what was given up.
func (p *producer) despair() {
	for e := range p.async.Errors() {
		err := paused(e.Err, p.vitals.cause(p.vital(e.Msg)))
		p.fail(e.Msg, refused(fmt.Sprintf("%s to %s, partition %d", p.part, e.Msg.Topic, e.Msg.Partition), err))
	}
}

func (p *producer) fail(m *sarama.ProducerMessage, err error) {
	p.vitals.note(p.vital(m), err)
	p.end(m, journal.Place{}, err)
}

func (p *producer) vital(m *sarama.ProducerMessage) vital {
	return vital{part: p.part, topic: m.Topic, partition: m.Partition}
}

// end tells how a record has ended, unless Close has.
func (p *producer) end(m *sarama.ProducerMessage, at journal.Place, err error) {
	s, ok := m.Metadata.(*sending)
	if ok && p.settle(s) {
		s.done(at, err)
	}
}

// settle takes a record off, and reports false if it was taken off before.
func (p *producer) settle(s *sending) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.out[s]; !ok {
		return false
	}
	delete(p.out, s)
	p.bytes -= s.size
	if p.closed && len(p.out) == 0 {
		close(p.idle)
	}
	return true
}

func (p *producer) waiting() (records, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.out), p.bytes
}

// farewell is how long Close waits for what the brokers have not answered.
const farewell = 3 * time.Second

// close waits a little for what is out, ends the rest with ErrClosed, and lets
// go of the connections: in the background, where brokers do not answer.
func (p *producer) close() {
	p.mu.Lock()
	p.closed = true
	if len(p.out) == 0 {
		close(p.idle)
	}
	p.mu.Unlock()
	late, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	select {
	case <-p.idle:
	case <-late.Done():
	}
	close(p.stopped)
	for _, s := range p.rest() {
		if p.settle(s) {
			s.done(journal.Place{}, journal.ErrClosed)
		}
	}
	gone := make(chan struct{})
	go func() {
		p.feeding.Wait() // AsyncClose closes what it sends to
		p.async.AsyncClose()
		p.ending.Wait()
		if p.client != nil {
			_ = p.client.Close() // what was out has ended
		}
		close(gone)
	}()
	select {
	case <-gone:
	case <-late.Done():
	}
}

func (p *producer) rest() []*sending {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*sending, 0, len(p.out))
	for s := range p.out {
		all = append(all, s)
	}
	return all
}
