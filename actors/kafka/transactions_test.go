package kafka

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// dawdler is a producer of transactions that takes a minute for messages, and
// whose input is gone when it was closed, as sarama's is.
type dawdler struct {
	sarama.SyncProducer
	status sarama.ProducerTxnStatusFlag
	used   func()
	closed chan struct{}
}

func (d *dawdler) BeginTxn() error { return nil }

func (d *dawdler) SendMessages([]*sarama.ProducerMessage) error {
	time.Sleep(time.Minute)
	d.used()
	return nil
}

func (d *dawdler) AddOffsetsToTxn(map[string][]*sarama.PartitionOffsetMetadata, string) error {
	return nil
}

func (d *dawdler) CommitTxn() error {
	d.used()
	return nil
}

func (d *dawdler) TxnStatus() sarama.ProducerTxnStatusFlag { return d.status }

func (d *dawdler) Close() error {
	close(d.closed)
	return nil
}

// A producer of sarama's that is closed beneath a transaction panics.
func TestAProducerIsClosedWhenNothingIsUnderWayAtIt(t *testing.T) {
	for name, status := range map[string]sarama.ProducerTxnStatusFlag{"the log is closed": 0, "it was ousted": sarama.ProducerTxnFlagFatalError} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dawdler{status: status, closed: make(chan struct{})}
				d.used = func() {
					select {
					case <-d.closed:
						t.Error("it is used after it was closed")
					default:
					}
				}
				s := &transactions{log: &Log{config: Config{App: "app"}}, from: part, producer: d}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := s.transact(ctx, "t", nil, 1); err == nil {
					t.Error("it is committed")
				}
				s.close()
				time.Sleep(2 * time.Minute)
				<-d.closed
			})
		})
	}
}
