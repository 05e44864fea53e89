package kafka

import (
	"errors"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// Publish adds a message to an ordinary topic: in the partition that Kafka's own
// clients choose for its key; without one, in any. The topic "dead" is that of
// the application, App.dead; others are named as they are. Those of
// Config.ExactlyOnce get what has a number in transactions, once; the place that
// done gets is empty then. Who is told that something has ended may publish: what is
// published is only queued here.
func (l *Log) Publish(m journal.Message, done func(journal.Place, error)) {
	s := l.outgoing(&m, done)
	if l.egress.carries(&m) {
		l.consign(&consignment{sending: s, from: m.Source, number: m.Number})
		return
	}
	s.route = l.router.route
	l.publisher.send(s)
}

func (l *Log) outgoing(m *journal.Message, done func(journal.Place, error)) *sending {
	s := &sending{done: done, ProducerMessage: sarama.ProducerMessage{Topic: l.ordinary(m.Topic), Value: value(m.Value)}}
	if m.Key != "" {
		s.Key = sarama.StringEncoder(m.Key)
	}
	for _, h := range m.Headers {
		s.Headers = append(s.Headers, sarama.RecordHeader{Key: []byte(h.Name), Value: h.Value})
	}
	return s
}

// router chooses partitions. It is for one goroutine, that of the publisher or of a
// courier, which waits where a topic is not known yet; a topic that does not exist
// is not asked for again for a while, so that it does not hold up the others.
type router struct {
	client interface {
		Partitions(topic string) ([]int32, error)
	}
	next   uint32 // of messages without a key
	missed map[string]miss
}

type miss struct {
	at  time.Time
	err error
}

const missFor = 5 * time.Second

// errBare: as of a topic that is being made or deleted.
var errBare = errors.New("the topic has no partitions")

func (r *router) route(s *sending) error {
	if m, ok := r.missed[s.Topic]; ok && time.Since(m.at) < missFor {
		return m.err
	}
	all, err := r.client.Partitions(s.Topic)
	if err == nil && len(all) == 0 {
		err = errBare
	}
	if err != nil {
		err = explain("publish to "+s.Topic, err)
		r.missed[s.Topic] = miss{time.Now(), err}
		return err
	}
	delete(r.missed, s.Topic)
	n := uint32(len(all)) //nolint:gosec // a count
	r.next++
	chosen := r.next % n
	if key, ok := s.Key.(sarama.StringEncoder); ok {
		chosen = record.PartitionOf(string(key), n)
	}
	s.Partition = int32(chosen) //nolint:gosec // below n
	return nil
}
