package kafka

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

type topics struct {
	counts map[string]int
	bare   string // has no partitions
	asked  int
}

func (a *topics) Partitions(name string) ([]int32, error) {
	a.asked++
	if a.counts[name] == 0 && name != a.bare {
		return nil, sarama.ErrUnknownTopicOrPartition
	}
	return make([]int32, a.counts[name]), nil
}

// The partitions are those that Kafka's own clients choose: Utils.murmur2 of
// "foobar" is -790332482, of "abc" 479470107.
func TestAMessageGoesWhereKafkasClientsWouldSendIt(t *testing.T) {
	r := router{client: &topics{counts: map[string]int{"t": 10}}, missed: make(map[string]miss)}
	for key, want := range map[string]int32{"foobar": int32((-790332482 & 0x7fffffff) % 10), "abc": 479470107 % 10} {
		s := &sending{ProducerMessage: sarama.ProducerMessage{Topic: "t", Key: sarama.StringEncoder(key)}}
		if err := r.route(s); err != nil || s.Partition != want {
			t.Errorf("%s goes to %d, %v; want %d", key, s.Partition, err, want)
		}
	}
	seen := make(map[int32]bool)
	for range 10 {
		s := &sending{ProducerMessage: sarama.ProducerMessage{Topic: "t"}}
		_ = r.route(s)
		seen[s.Partition] = true
	}
	if len(seen) != 10 {
		t.Errorf("messages without a key are in %d partitions of 10", len(seen))
	}
}

func TestATopicThatIsNotThereIsNotAskedForEveryTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &topics{}
		r := router{client: a, missed: make(map[string]miss)}
		for range 20 {
			if r.route(&sending{ProducerMessage: sarama.ProducerMessage{Topic: "t"}}) == nil {
				t.Error("it is there")
			}
			time.Sleep(time.Second)
		}
		if a.asked > 5 {
			t.Errorf("it was asked for %d times in 20 s", a.asked)
		}
	})
}

func TestATopicWithoutPartitionsIsAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &topics{bare: "t"}
		r := router{client: a, missed: make(map[string]miss)}
		s := &sending{ProducerMessage: sarama.ProducerMessage{Topic: "t"}}
		if err := r.route(s); !errors.Is(err, errBare) {
			t.Error(err)
		}
		a.counts = map[string]int{"t": 1}
		time.Sleep(missFor)
		if err := r.route(s); err != nil {
			t.Errorf("when it has: %v", err)
		}
	})
}
