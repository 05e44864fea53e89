package kafka

import (
	"context"
	"errors"
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

// coordinated is a client whose coordinator is one broker.
type coordinated struct{ led }

func (c coordinated) Coordinator(string) (*sarama.Broker, error) { return c.broker, nil }

// Before version 2.5 nobody says that an offset is about to change.
func TestWhatIsCommittedMustBeStable(t *testing.T) {
	there := sarama.NewMockBroker(t, 1)
	t.Cleanup(there.Close)
	answer := &sarama.OffsetFetchResponse{Version: 7}
	answer.AddBlock("app.t", 1, &sarama.OffsetFetchResponseBlock{Offset: 7})
	there.Returns(answer)
	conf := sarama.NewConfig()
	conf.Version, conf.ApiVersionsRequest = sarama.V2_5_0_0, false // it would take the answer
	here := sarama.NewBroker(there.Addr())
	if err := here.Open(conf); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	s := &transactions{log: &Log{config: Config{App: "app"}, client: coordinated{led{broker: here}}}, from: part}
	for version, want := range map[sarama.KafkaVersion]error{sarama.V2_4_0_0: errUnstable, sarama.V2_5_0_0: nil} {
		s.log.roles.hardened = &sarama.Config{Version: version}
		if at, err := s.fetch("group"); !errors.Is(err, want) || want == nil && at != 7 {
			t.Errorf("with %v: %d, %v", version, at, err)
		}
	}
}
