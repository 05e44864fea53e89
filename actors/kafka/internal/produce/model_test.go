package produce

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// The model is a cluster that keeps Kafka's rules for producers with an identity,
// and fails in all the ways in which Kafka may. What it was told to append can be
// compared with what the producer has told.

// ledger is the log of a partition, with the leader that it has.
type ledger struct {
	leader    int
	epoch     int // of the leader
	log       []text
	appended  []block
	committed int // so many records survive a new leader
}

// block is a batch in a log.
type block struct {
	id          int64
	first, last int32
	base, end   int
}

// add appends a batch as Kafka does: it knows the last five of an identity.
func (l *ledger) add(b *Batch) (base int, err error) {
	n := int32(len(b.Records)) //nolint:gosec // a count
	add := block{id: b.Identity.ID, first: b.First, last: (b.First + n - 1) & math.MaxInt32, base: len(l.log)}
	known := 0
	for _, old := range slices.Backward(l.appended) {
		switch {
		case old.id != add.id:
			continue
		case old.first == add.first && old.last == add.last:
			return old.base, nil
		case known == 0 && add.first != (old.last+1)&math.MaxInt32:
			err = sarama.ErrOutOfOrderSequenceNumber
		}
		if known++; known == 5 {
			break
		}
	}
	if err != nil {
		return 0, err
	}
	for _, m := range b.Records {
		l.log = append(l.log, m.Value.(text))
	}
	add.end = len(l.log)
	l.appended = append(l.appended, add)
	return add.base, nil
}

// cut drops what is not committed.
func (l *ledger) cut() {
	l.log = l.log[:l.committed]
	l.appended = slices.DeleteFunc(l.appended, func(b block) bool { return b.base >= l.committed })
}

// model is the cluster.
type model struct {
	mu     sync.Mutex
	rand   *rand.Rand
	calm   bool
	peers  []*peer
	parts  []*ledger
	known  []int // leaders, since the last refresh
	last   int64 // identity
	sentAs map[text]map[int64]bool
}

func newModel(seed uint64, peers, parts int) *model {
	m := &model{rand: rand.New(rand.NewPCG(seed, 1)), sentAs: make(map[text]map[int64]bool)}
	for i := range peers {
		m.peers = append(m.peers, &peer{model: m, index: i, lock: make(chan struct{}, 1)})
	}
	for i := range parts {
		m.parts = append(m.parts, &ledger{leader: i % peers})
		m.known = append(m.known, i%peers)
	}
	return m
}

// one reports true once in so many times, and never when all is calm.
func (m *model) one(in int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.calm && m.rand.IntN(in) == 0
}

func (m *model) upTo(d time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Duration(m.rand.Int64N(int64(d)))
}

func (m *model) pick(all ...error) error { return all[m.upTo(time.Duration(len(all)))] }

func (m *model) Leader(_ string, partition int32) (Broker, error) {
	if m.one(20) {
		return nil, sarama.ErrLeaderNotAvailable
	}
	m.mu.Lock()
	p := m.peers[m.known[partition]]
	m.mu.Unlock()
	p.lock <- struct{}{}
	p.open = true
	<-p.lock
	return p, nil
}

func (m *model) Refresh(string) error {
	time.Sleep(m.upTo(20 * time.Millisecond))
	if m.one(5) {
		time.Sleep(m.upTo(time.Second))
		return sarama.ErrOutOfBrokers
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, l := range m.parts {
		m.known[i] = l.leader
	}
	return nil
}

func (m *model) Identify() (Identity, error) {
	time.Sleep(m.upTo(20 * time.Millisecond))
	if m.one(5) {
		return Identity{}, sarama.ErrOutOfBrokers
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	return Identity{ID: m.last}, nil
}

func (m *model) Close() {
	for _, p := range m.peers {
		p.Close()
	}
}

// trouble moves leaders, and has brokers refuse connections, until all is calm.
func (m *model) trouble(until <-chan struct{}) {
	for {
		select {
		case <-time.After(m.upTo(2 * time.Second)):
		case <-until:
			return
		}
		m.mu.Lock()
		l := m.parts[m.rand.IntN(len(m.parts))]
		l.leader = m.rand.IntN(len(m.peers))
		l.epoch++
		if m.rand.IntN(2) == 0 {
			l.cut()
		}
		l.committed = len(l.log)
		m.peers[m.rand.IntN(len(m.peers))].down = m.rand.IntN(4) == 0
		m.mu.Unlock()
	}
}

func (m *model) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calm = true
	for _, p := range m.peers {
		p.down = false
	}
}

// peer is a broker with a connection to it, on which locks are as in sarama:
// sending waits for connecting, and closing waits for who reads the answers.
type peer struct {
	model *model
	index int
	down  bool

	lock   chan struct{}
	open   bool          // or opening
	broken chan struct{} // nil: not connected
	reader sync.WaitGroup
}

var errBroken = errors.New("the connection broke")

func (p *peer) Produce(batches []*Batch, answered func(Response, error)) error {
	p.lock <- struct{}{}
	defer func() { <-p.lock }()
	p.model.mu.Lock()
	down := p.down
	copies := make([]Batch, len(batches))
	for i, b := range batches {
		copies[i] = *b
		for _, r := range b.Records {
			v := r.Value.(text)
			if p.model.sentAs[v] == nil {
				p.model.sentAs[v] = make(map[int64]bool)
			}
			p.model.sentAs[v][b.Identity.ID] = true
		}
	}
	p.model.mu.Unlock()
	switch {
	case !p.open, down && p.broken != nil:
		return errBroken
	case down:
		time.Sleep(p.model.upTo(100 * time.Millisecond))
		return errBroken
	case p.broken == nil:
		time.Sleep(p.model.upTo(100 * time.Millisecond))
		p.broken = make(chan struct{})
	}
	broken := p.broken
	p.reader.Go(func() { p.serve(copies, broken, answered) })
	return nil
}

func (p *peer) Close() {
	p.lock <- struct{}{}
	defer func() { <-p.lock }()
	p.open = false
	if p.broken != nil {
		close(p.broken)
		p.reader.Wait()
		p.broken = nil
	}
}

// serve answers a request, or loses it or the answer: then it may be handled
// later.
func (p *peer) serve(batches []Batch, broken <-chan struct{}, answered func(Response, error)) {
	latency := p.model.upTo(20 * time.Millisecond)
	switch {
	case p.model.one(30): // the request is lost
		answered(Response{}, errBroken)
		return
	case p.model.one(31): // it is late
		go func() {
			time.Sleep(p.model.upTo(5 * time.Second))
			p.handle(batches)
		}()
		answered(Response{}, errBroken)
		return
	case p.model.one(60): // it freezes
		latency = 10 * time.Second
	}
	select {
	case <-time.After(latency):
	case <-broken:
		answered(Response{}, errBroken)
		return
	}
	all := p.handle(batches)
	if p.model.one(30) || latency == 10*time.Second { // the answer is lost
		answered(Response{}, errBroken)
		return
	}
	answered(Response{Answers: all, Throttled: p.model.one(10)}, nil)
}

func (p *peer) handle(batches []Batch) []Answer {
	all := make([]Answer, len(batches))
	for i := range batches {
		all[i] = p.append(&batches[i])
	}
	return all
}

// append appends a batch, and waits for its copies.
func (p *peer) append(b *Batch) Answer {
	l := p.model.parts[b.Partition]
	if p.model.one(20) {
		return Answer{Err: p.model.pick(sarama.ErrNotEnoughReplicas, sarama.ErrKafkaStorageError, sarama.ErrInvalidMessage,
			sarama.ErrMessageSizeTooLarge, sarama.ErrTopicAuthorizationFailed)}
	}
	p.model.mu.Lock()
	leads, epoch, base, err := l.leader == p.index, l.epoch, 0, error(nil)
	if leads {
		base, err = l.add(b)
	}
	p.model.mu.Unlock()
	switch {
	case !leads:
		return Answer{Err: sarama.ErrNotLeaderForPartition}
	case err != nil:
		return Answer{Err: err}
	}
	time.Sleep(p.model.upTo(10 * time.Millisecond))
	if p.model.one(20) {
		return Answer{Err: p.model.pick(sarama.ErrRequestTimedOut, sarama.ErrNotEnoughReplicasAfterAppend, sarama.ErrUnknown)}
	}
	p.model.mu.Lock()
	defer p.model.mu.Unlock()
	if l.epoch != epoch { // appended here; nobody knows whether the next leader has it
		return Answer{Err: sarama.ErrNotLeaderForPartition}
	}
	l.committed = max(l.committed, base+len(b.Records))
	return Answer{Offset: int64(base)}
}

// outcome is how a record ended.
type outcome struct {
	sent, ended time.Time
	times       int
	offset      int64
	err         error
}

func TestRandomFailuresLoseNothingThatIsAcknowledged(t *testing.T) {
	for seed := range uint64(50) {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runModel(t, seed) })
		})
		if !ok {
			return
		}
	}
}

func runModel(t *testing.T, seed uint64) {
	const parts, records = 4, 300
	m := newModel(seed, 3, parts)
	var mu sync.Mutex
	ends := make([]map[text]*outcome, parts)
	order := make([][]text, parts)
	told := make([][]text, parts)
	p, err := New(m, Config{BatchBytes: 400, RequestBytes: 1000, Patience: patience / 4, Backoff: backoff}, func(r *sarama.ProducerMessage, err error) {
		mu.Lock()
		defer mu.Unlock()
		e := ends[r.Partition][r.Value.(text)]
		e.times++
		e.ended, e.offset, e.err = time.Now(), r.Offset, err
		told[r.Partition] = append(told[r.Partition], r.Value.(text))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range int32(parts) {
		ends[i] = make(map[text]*outcome)
		p.partition("t", i).next = math.MaxInt32 - 20
	}
	calm := make(chan struct{})
	go m.trouble(calm)
	for n := range records {
		time.Sleep(m.upTo(200 * time.Millisecond))
		for range 1 + m.upTo(4) {
			i := int32(m.upTo(parts))
			v := text(fmt.Sprint(i, ".", n, ".", len(order[i])))
			mu.Lock()
			ends[i][v] = &outcome{sent: time.Now()}
			mu.Unlock()
			order[i] = append(order[i], v)
			began := time.Now()
			p.Send(&sarama.ProducerMessage{Topic: "t", Partition: i, Value: v})
			if took := time.Since(began); took > 0 {
				t.Errorf("Send took %v", took)
			}
		}
	}
	close(calm)
	m.settle()
	time.Sleep(time.Minute)
	mu.Lock()
	defer mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	var longest time.Duration
	acked := 0
	for i, l := range m.parts {
		if !slices.Equal(told[i], order[i]) {
			t.Errorf("partition %d: sent %v\ntold %v", i, order[i], told[i])
		}
		before := int64(-1)
		for _, v := range order[i] {
			e := ends[i][v]
			longest = max(longest, e.ended.Sub(e.sent))
			switch {
			case e.times != 1:
				t.Errorf("%s ended %d times", v, e.times)
			case e.err != nil:
				if oneOf(tooLarge, e.err) && slices.Contains(l.log, v) {
					t.Errorf("%s has landed: %v", v, e.err)
				}
				continue
			case e.offset >= int64(len(l.log)) || l.log[e.offset] != v:
				t.Errorf("%s is not at %d, that is %v", v, e.offset, l.log[min(e.offset, int64(len(l.log)-1))])
			case e.offset <= before:
				t.Errorf("%s is at %d, not after %d", v, e.offset, before)
			}
			before = e.offset
			acked++
		}
		count := make(map[text]int)
		for _, v := range l.log {
			if count[v]++; count[v] > len(m.sentAs[v]) {
				t.Errorf("%s is there %d times, and was sent under %d identities", v, count[v], len(m.sentAs[v]))
			}
		}
	}
	t.Logf("%d acknowledged, the longest took %v", acked, longest)
	if longest > patience/4+30*time.Second { // behind one that froze, frozen itself, and once more when it was given up
		t.Errorf("a record ended after %v", longest)
	}
}
