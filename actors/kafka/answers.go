package kafka

import (
	"bytes"
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/direct"
)

// listeners are those of this process. They share one partition of the topic of
// answers, which is read from the end on: nothing is kept for an address of an
// earlier life.
type listeners struct {
	peer    string     // this process
	opening sync.Mutex // held while the partition is chosen

	mu        sync.RWMutex
	feed      *feed
	partition int32
	last      uint64 // number of a listener
	byToken   map[string]func([]byte)
}

func newListeners() *listeners {
	return &listeners{peer: direct.NewPeer(), byToken: make(map[string]func([]byte))}
}

// place is where a listener is, as its address tells: "3/6f1c0de5a2b94877-1" is
// the first one of a process that reads partition 3. The token is the key of
// its answers on the topic.
type place struct {
	partition int32
	token     string
}

func (p place) String() string { return fmt.Sprintf("%d/%s", p.partition, p.token) }

func placeOf(address string) (p place, ok bool) {
	number, token, ok := strings.Cut(address, "/")
	partition, err := strconv.ParseInt(number, 10, 32)
	return place{int32(partition), token}, ok && err == nil //nolint:gosec // of 32 bits
}

// peer is the process.
func (p place) peer() string {
	peer, _, _ := strings.Cut(p.token, "-")
	return peer
}

// Listen opens an address. The first time it begins to read a partition of the
// topic of answers, and to look for those who answer directly.
func (l *Log) Listen(ctx context.Context, deliver func(data []byte)) (address string, closing func(), err error) {
	if err := l.tuneIn(ctx); err != nil {
		return "", nil, err
	}
	if err := l.lines.listen(ctx); err != nil {
		return "", nil, err
	}
	ls := l.listeners
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.last++
	at := place{ls.partition, fmt.Sprintf("%s-%d", ls.peer, ls.last)}
	ls.byToken[at.token] = deliver
	return at.String(), func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		delete(ls.byToken, at.token)
	}, nil
}

// tuneIn begins to read a partition of the topic of answers, the first time.
func (l *Log) tuneIn(ctx context.Context) error {
	ls := l.listeners
	ls.opening.Lock()
	defer ls.opening.Unlock()
	if ls.feed != nil {
		return nil
	}
	name := l.config.topic(repliesName)
	partition := mathrand.Int32N(l.replies.partitions.Load()) //nolint:gosec // to spread
	_, end, err := l.bounds(ctx, name, partition)
	if err != nil {
		return err
	}
	ls.mu.Lock()
	ls.partition = partition
	ls.mu.Unlock()
	ls.feed = &feed{topic: name, partition: partition, next: end, lossy: true, sink: ls}
	l.fetcher.start(ls.feed)
	return nil
}

// find returns what takes the answers of a listener, nil if it is not here.
func (ls *listeners) find(token string) func(data []byte) {
	ls.mu.RLock()
	defer ls.mu.RUnlock()
	return ls.byToken[token]
}

// take delivers answers that came over the topic.
func (ls *listeners) take(all []message) (room bool) {
	for _, m := range all {
		if deliver := ls.find(string(m.key)); deliver != nil {
			deliver(bytes.Clone(m.value))
		}
	}
	return true
}

// accept delivers one that came directly.
func (ls *listeners) accept(m direct.Letter) {
	at, _ := placeOf(m.To)
	if deliver := ls.find(at.token); deliver != nil {
		deliver(m.Data)
	}
}

// fail is called when the Log is closed: nobody listens any more.
func (ls *listeners) fail(error) {}

// Answer hands data over if the address is in this process, sends it directly if
// its process is connected, and else over the topic. What cannot be sent is
// lost: who waits asks again.
func (l *Log) Answer(address string, data []byte) {
	at, ok := placeOf(address)
	if !ok {
		return // nobody's
	}
	if deliver := l.listeners.find(at.token); deliver != nil {
		deliver(data)
		return
	}
	letter := direct.Letter{To: address, Data: data}
	if !l.lines.answer(at.peer(), letter) {
		l.detour(letter)
	}
}

// crowded is the part of the queue, one in so many, above which answers are
// dropped: there must be room for what is appended to the logs.
const crowded = 4

// detour sends an answer over the topic, unless much waits to be sent.
func (l *Log) detour(m direct.Letter) {
	at, ok := placeOf(m.To)
	if !ok || at.partition < 0 {
		return // nobody's
	}
	if at.partition >= l.replies.partitions.Load() {
		l.widen(at, m)
		return
	}
	l.mail(at, m)
}

func (l *Log) mail(at place, m direct.Letter) {
	if _, queued := l.appender.waiting(); queued > l.config.QueueBytes/crowded {
		return
	}
	l.appender.send(&sending{done: func(journal.Place, error) {}, ProducerMessage: sarama.ProducerMessage{
		Topic: l.config.topic(repliesName), Partition: at.partition, Key: sarama.StringEncoder(at.token), Value: value(m.Data),
	}})
}
