package produce

import (
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// Config is that of a producer.
type Config struct {
	// BatchBytes bounds a batch, RequestBytes a request. A record that is larger
	// goes alone.
	BatchBytes, RequestBytes int
	// Patience is for how long a record is tried that fails. Backoff is how long
	// nobody asks again for one that has failed twice: a tenth of the time for which
	// its partition has failed, when that is more, and at most a second.
	Patience, Backoff time.Duration
}

// Producer sends records. It is safe for concurrent use.
type Producer struct {
	config  Config
	cluster Cluster
	ended   func(*sarama.ProducerMessage, error)
	stop    chan struct{}
	work    sync.WaitGroup

	identifying sync.Mutex // held while an identity is asked for

	mu       sync.Mutex
	identity Identity
	topics   map[string]*topic
	lanes    map[Broker]*lane
	closed   bool
}

// New returns a producer, with an identity unless the brokers are not ready to
// give one; then the first records wait for it. Its error is one that does not
// pass by itself.
//
// The producer tells ended of every record that has ended, once, in their order in
// each partition: with its offset, and its time if the broker has told one; one
// that has landed so long ago that the broker has forgotten where has neither. ended
// must not wait, and must not send: it is called by who reads what a broker
// answers. After Close it may be called no more.
func New(cluster Cluster, c Config, ended func(*sarama.ProducerMessage, error)) (*Producer, error) {
	id, err := cluster.Identify()
	switch {
	case oneOf(hopeless, err):
		return nil, err
	case err != nil:
		id = nobody
	}
	return &Producer{
		config: c, cluster: cluster, ended: ended, identity: id,
		stop: make(chan struct{}), topics: make(map[string]*topic), lanes: make(map[Broker]*lane),
	}, nil
}

// Send sends a record, whose partition is chosen. It waits for no broker: it writes
// a small record itself where nothing else is on its way to the broker, which the
// system takes at once, and leaves the rest to others. After Close it does nothing.
func (p *Producer) Send(m *sarama.ProducerMessage) {
	size := Size(m)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	part := p.partition(m.Topic, m.Partition)
	part.add(m, size)
	if part.place == idle {
		p.line(part)
	}
	l := part.lane
	var request []*Batch
	if l != nil && l.alone(part, size) {
		request = l.load()
	}
	waits := l != nil && !l.busy // else who has made it busy looks at the line again
	p.mu.Unlock()
	switch {
	case len(request) > 0:
		l.ship(request)
	case waits:
		l.hurry()
	}
}

// partition is that of a record. It stays: there are no more than the cluster has.
func (p *Producer) partition(name string, index int32) *partition {
	t := p.topics[name]
	if t == nil {
		t = newTopic(p, name)
		p.topics[name] = t
	}
	part := t.partitions[index]
	if part == nil {
		part = &partition{topic: t, index: index, identity: p.identity, disowned: p.identity == nobody}
		t.partitions[index] = part
	}
	return part
}

// line puts a partition that has something to send in line for its leader, or
// among those that have none.
func (p *Producer) line(part *partition) {
	if part.lane == nil || part.lane.broken || part.misled || part.disowned {
		part.topic.lose(part)
		return
	}
	part.lane.add(part)
}

// lane is the one to a broker.
func (p *Producer) lane(to Broker) *lane {
	l := p.lanes[to]
	if l == nil {
		l = &lane{producer: p, broker: to, wake: make(chan struct{}, 1)}
		p.lanes[to] = l
		p.work.Go(l.run)
	}
	return l
}

// renew returns an identity that is another than the one that has failed.
func (p *Producer) renew(failed Identity) (Identity, error) {
	p.identifying.Lock()
	defer p.identifying.Unlock()
	p.mu.Lock()
	now := p.identity
	p.mu.Unlock()
	if now != failed {
		return now, nil
	}
	id, err := p.cluster.Identify()
	if err != nil {
		return failed, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.identity = id
	return id, nil
}

// tell says how records have ended.
func (p *Producer) tell(all []*sarama.ProducerMessage, err error) {
	for _, m := range all {
		p.ended(m, err)
	}
}

// Close ends what the producer does, and waits for that. What it has not told the
// end of, it may tell or not.
func (p *Producer) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.stop)
	}
	p.mu.Unlock()
	p.work.Wait()
	p.cluster.Close()
}
