package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// transactions is the session of a courier at brokers.
type transactions struct {
	log      *Log
	from     journal.Partition
	producer sarama.SyncProducer
	// acts are those under way at the producer, whether or not anybody waits for
	// them any more: one that is closed beneath them panics.
	acts sync.WaitGroup
}

// openTransactions connects, and ends the transactions of those before it.
func (l *Log) openTransactions(ctx context.Context, from journal.Partition) (*transactions, error) {
	conf := client.Transactional(l.roles.hardened, fmt.Sprintf("%s.egress.%s.%d", l.config.App, from.Type, from.Index))
	producer, err := client.Within(ctx, func() (sarama.SyncProducer, error) {
		p, err := sarama.NewSyncProducer(l.config.Brokers, conf)
		if err == nil && ctx.Err() != nil {
			_ = p.Close() // nobody waits for it any more
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	return &transactions{log: l, from: from, producer: producer}, nil
}

// group keeps the numbers of a topic.
func (t *transactions) group(topic string) string { return t.log.config.App + ".egress." + topic }

// place is where in the group that of the partition is: at the log's own place.
func (t *transactions) place() (topic string, partition int32) {
	return t.log.config.topic(t.from.Type), int32(t.from.Index) //nolint:gosec // at most 10,000
}

func (t *transactions) committed(ctx context.Context, topic string) (last uint64, known bool, err error) {
	group := t.group(topic)
	at, err := again(ctx, "reading what was published to "+topic, func() (int64, error) {
		at, err := t.fetch(group)
		if err != nil {
			_ = t.log.client.RefreshCoordinator(group) // or the next try fails again
		}
		return at, err
	})
	if err != nil || at < 0 {
		return 0, false, err
	}
	return uint64(at), true, nil
}

// errUnstable: what is committed cannot be told from what is about to be.
var errUnstable = fmt.Errorf("to publish exactly once takes brokers, and a Config.Sarama.Version, of 2.5 or newer: %w", sarama.ErrUnsupportedVersion)

// fetch returns the offset that is committed, -1 if there is none. It is an error
// while a transaction is open that may change it, and where nobody can tell.
func (t *transactions) fetch(group string) (int64, error) {
	broker, err := t.log.client.Coordinator(group)
	if err != nil {
		return 0, err
	}
	topic, partition := t.place()
	request := sarama.NewOffsetFetchRequest(t.log.roles.hardened.Version, group, map[string][]int32{topic: {partition}})
	const stable = 7 // the version that knows it
	if request.Version < stable {
		return 0, errUnstable
	}
	request.RequireStable = true // to a broker that does not know it sarama does not send it
	response, err := broker.FetchOffset(request)
	if err != nil {
		_ = broker.Close() // it is opened again when it is next asked for
		return 0, err
	}
	return offsetIn(response, topic, partition)
}

func offsetIn(response *sarama.OffsetFetchResponse, topic string, partition int32) (int64, error) {
	block := response.GetBlock(topic, partition)
	switch {
	case response.Err == sarama.ErrGroupIDNotFound: // some brokers say so before the first commit
		return -1, nil
	case response.Err != sarama.ErrNoError:
		return 0, response.Err
	case block == nil:
		return 0, sarama.ErrIncompleteResponse
	case block.Err != sarama.ErrNoError:
		return 0, block.Err
	}
	return block.Offset, nil
}

func (t *transactions) transact(ctx context.Context, topic string, all []*sarama.ProducerMessage, last uint64) error {
	t.acts.Add(1)
	_, err := client.Within(ctx, func() (struct{}, error) {
		defer t.acts.Done()
		return struct{}{}, t.commit(topic, all, last)
	})
	return err
}

func (t *transactions) commit(topic string, all []*sarama.ProducerMessage, last uint64) error {
	if err := t.producer.BeginTxn(); err != nil {
		return err
	}
	if err := t.send(all); err != nil {
		return gravest(err)
	}
	log, partition := t.place()
	number := []*sarama.PartitionOffsetMetadata{{Partition: partition, Offset: int64(last), LeaderEpoch: -1}} //nolint:gosec // counted from 1
	if err := t.producer.AddOffsetsToTxn(map[string][]*sarama.PartitionOffsetMetadata{log: number}, t.group(topic)); err != nil {
		return err
	}
	return t.producer.CommitTxn()
}

// errOusted: sarama tries the messages of such a transaction again and again.
var errOusted = errors.New("kafka: another process publishes for this partition, or the brokers have given the transaction up")

// send sends the messages of a transaction, for as long as that may be committed.
func (t *transactions) send(all []*sarama.ProducerMessage) error {
	sent := make(chan error, 1)
	t.acts.Go(func() { sent <- t.producer.SendMessages(all) })
	const often = 20 * time.Millisecond
	look := time.NewTicker(often)
	defer look.Stop()
	for {
		select {
		case err := <-sent:
			return err
		case <-look.C:
			if t.producer.TxnStatus()&sarama.ProducerTxnFlagFatalError != 0 {
				return errOusted
			}
		}
	}
}

// gravest is, of the errors of messages, that one which will come again.
func gravest(err error) error {
	all, ok := errors.AsType[sarama.ProducerErrors](err)
	if !ok || len(all) == 0 {
		return err
	}
	for _, e := range all {
		if errors.Is(e, sarama.ErrMessageSizeTooLarge) {
			return e
		}
	}
	return all[0]
}

// close gives the connections back in the background, when what is under way has
// ended. A transaction that is open is ended by the next session.
func (t *transactions) close() {
	go func() {
		t.acts.Wait()
		_ = t.producer.Close()
	}()
}
