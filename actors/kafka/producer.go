package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
	"github.com/backstay-go/backstay/actors/kafka/internal/produce"
)

// producer sends records, in bounds. It knows what is not answered yet, and ends
// that when it is closed.
type producer struct {
	part    string
	client  sarama.Client // its own; it knows what topics are like
	sender  sender
	vitals  *vitals
	largest int                                                          // bytes of a record
	bound   int                                                          // bytes that may wait
	after   func(m *sarama.ProducerMessage, at journal.Place, err error) // is told how a record has ended, after who has sent it; or nil

	wake    chan struct{}
	stopped chan struct{}
	idle    chan struct{} // closed: closed, and nothing is out
	routing sync.WaitGroup

	mu     sync.Mutex
	queue  []*sending // to be routed
	out    map[*sending]struct{}
	bytes  int
	logged int // entries of logs that are out
	closed bool
}

// sender sends records whose partition is chosen, and tells their ends.
type sender interface {
	Send(m *sarama.ProducerMessage)
	Close()
}

// sending is a record on its way.
type sending struct {
	sarama.ProducerMessage
	size  int
	route func(*sending) error // chooses the partition, and may wait for that; nil: it is chosen
	done  func(journal.Place, error)
	entry bool // of a log
}

func newProducer(part string, brokers []string, conf *sarama.Config, bound int, v *vitals) (*producer, error) {
	connected, err := sarama.NewClient(brokers, conf)
	if err != nil {
		return nil, explain("connecting a producer", err)
	}
	p := makeProducer(part, conf.Producer.MaxMessageBytes, bound, v)
	p.client = connected
	p.sender, err = produce.New(produce.Connect(connected), produceConfig(conf), p.ended)
	if err != nil {
		_ = connected.Close() // it has nothing under way
		return nil, explain("connecting a producer", err)
	}
	p.routing.Go(p.feed)
	return p, nil
}

// produceConfig is that of a sender, which goes on for as long as an election may
// take.
func produceConfig(conf *sarama.Config) produce.Config {
	return produce.Config{
		BatchBytes: conf.Producer.MaxMessageBytes, RequestBytes: int(sarama.MaxRequestSize) / 4,
		Patience: client.Outlast, Backoff: client.Backoff,
	}
}

func makeProducer(part string, largest, bound int, v *vitals) *producer {
	return &producer{
		part: part, vitals: v, largest: largest, bound: bound,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}), idle: make(chan struct{}), out: make(map[*sending]struct{}),
	}
}

// send sends a record. done is called once.
func (p *producer) send(s *sending) {
	s.size = produce.Size(&s.ProducerMessage)
	s.Metadata = s
	if err := p.accept(s); err != nil {
		s.done(journal.Place{}, err)
		return
	}
	if s.route == nil {
		p.sender.Send(&s.ProducerMessage)
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// accept takes a record on, if there is room for it.
func (p *producer) accept(s *sending) error {
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
	if s.entry {
		p.logged++
	}
	if s.route != nil {
		p.queue = append(p.queue, s)
	}
	return nil
}

// feed sends what had to be routed, in order.
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
			if p.direct(s) && !p.forward(s) {
				return // Close ends what is left
			}
			batch[i] = nil
		}
	}
}

// forward sends a record that was routed, and reports false if the producer has
// stopped meanwhile: what Close has ended is not sent.
func (p *producer) forward(s *sending) bool {
	select {
	case <-p.stopped:
		return false
	default:
		p.sender.Send(&s.ProducerMessage)
		return true
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

// ended notes what has become of a record.
func (p *producer) ended(m *sarama.ProducerMessage, err error) {
	if err != nil {
		err = refused(fmt.Sprintf("%s to %s, partition %d", p.part, m.Topic, m.Partition), err)
		p.vitals.note(p.vital(m), err)
		p.end(m, journal.Place{}, err)
		return
	}
	p.vitals.note(p.vital(m), nil)
	place := journal.Place{Offset: m.Offset}
	if !m.Timestamp.IsZero() { // else the broker has not told: of a copy, or without LogAppendTime
		place.At = m.Timestamp.UnixMilli()
	}
	p.end(m, place, nil)
}

func (p *producer) vital(m *sarama.ProducerMessage) vital {
	return vital{part: p.part, topic: m.Topic, partition: m.Partition}
}

// end tells how a record has ended, unless Close has.
func (p *producer) end(m *sarama.ProducerMessage, at journal.Place, err error) {
	s, ok := m.Metadata.(*sending)
	if !ok || !p.settle(s) {
		return
	}
	if s.done(at, err); p.after != nil {
		p.after(m, at, err)
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
	if s.entry {
		p.logged--
	}
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

// entries counts the entries of logs that are out.
func (p *producer) entries() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.logged
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
		p.routing.Wait()
		p.sender.Close()
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
