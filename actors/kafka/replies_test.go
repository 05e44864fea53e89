package kafka

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/kafka/internal/direct"
)

// growing is a client of a topic that gets more partitions, which it knows of
// when it has asked.
type growing struct {
	sarama.Client
	has, knows, asked atomic.Int32
}

func (g *growing) RefreshMetadata(...string) error {
	g.asked.Add(1)
	g.knows.Store(g.has.Load())
	return nil
}

func (g *growing) Partitions(string) ([]int32, error) { return make([]int32, g.knows.Load()), nil }

func (g *growing) Close() error { return nil }

func TestAnswersReachPartitionsThatWereAdded(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		g := new(growing)
		p.client = g
		l := &Log{config: Config{App: "bank"}.withDefaults(), appender: p, ctx: t.Context()}
		l.replies.partitions.Store(1)
		sent := func() int {
			synctest.Wait()
			n, _ := p.waiting()
			return n
		}
		g.has.Store(1)
		for range 100 { // addresses that do not exist
			l.detour(direct.Letter{To: "7/a-1"})
		}
		if n := sent(); n != 0 || g.asked.Load() != 1 {
			t.Fatalf("%d are sent; the topic was looked at %d times", n, g.asked.Load())
		}
		g.has.Store(8)
		time.Sleep(lookAgainAfter)
		l.detour(direct.Letter{To: "7/a-1"})
		if n := sent(); n != 1 {
			t.Fatalf("%d are sent to a new partition", n)
		}
		l.detour(direct.Letter{To: "6/a-1"})
		if n := sent(); n != 2 || g.asked.Load() != 2 {
			t.Errorf("%d are sent then; the topic was looked at %d times", n, g.asked.Load())
		}
		for range 2 {
			b.answer(<-b.taken, nil)
		}
		l.work.Wait()
		p.close()
	})
}
