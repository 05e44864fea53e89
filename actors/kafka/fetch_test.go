package kafka

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// batchAt is a batch of records "0", "1", ... at an offset.
func batchAt(first int64, n int) *sarama.RecordBatch {
	b := &sarama.RecordBatch{FirstOffset: first, LastOffsetDelta: int32(n - 1), FirstTimestamp: time.UnixMilli(1000), MaxTimestamp: time.UnixMilli(2000), LogAppendTime: true} //nolint:gosec // few
	for i := range n {
		b.Records = append(b.Records, &sarama.Record{OffsetDelta: int64(i), TimestampDelta: time.Duration(i) * time.Millisecond, Value: []byte{byte('0' + i)}})
	}
	return b
}

func blockOf(batches ...*sarama.RecordBatch) *sarama.FetchResponseBlock {
	b := &sarama.FetchResponseBlock{HighWaterMarkOffset: 100, LogStartOffset: 3}
	for _, batch := range batches {
		b.RecordsSet = append(b.RecordsSet, &sarama.Records{RecordBatch: batch})
	}
	return b
}

func offsets(b block) (all []int64) {
	for _, m := range b.messages {
		all = append(all, m.offset)
	}
	return all
}

func TestABatchIsReadFromTheOffsetOnThatWasAskedFor(t *testing.T) {
	b, err := unpack(blockOf(batchAt(10, 3), batchAt(20, 2)), 12)
	if err != nil || b.next != 22 || b.end != 100 || b.first != 3 {
		t.Fatalf("%+v, %v", b, err)
	}
	if got := offsets(b); len(got) != 3 || got[0] != 12 || got[1] != 20 || got[2] != 21 {
		t.Errorf("offsets %v", got)
	}
	if b.messages[0].at != 2000 || string(b.messages[0].value) != "2" {
		t.Errorf("%+v", b.messages[0])
	}
}

func TestMarksOfTransactionsArePassed(t *testing.T) {
	mark := batchAt(13, 1)
	mark.Control = true
	b, err := unpack(blockOf(batchAt(10, 3), mark), 10)
	if err != nil || len(b.messages) != 3 || b.next != 14 {
		t.Errorf("%v, next %d, %v", offsets(b), b.next, err)
	}
}

// Of two producers one commits and one aborts, and then commits.
func TestMessagesOfAbortedTransactionsAreLeftOut(t *testing.T) {
	of := func(b *sarama.RecordBatch, producer int64) *sarama.RecordBatch {
		b.ProducerID, b.IsTransactional = producer, true
		return b
	}
	mark := func(at, producer int64, kind byte) *sarama.RecordBatch {
		b := of(batchAt(at, 1), producer)
		b.Control, b.Records[0].Key = true, []byte{0, 0, 0, kind}
		return b
	}
	const abort, commit = 0, 1
	r := blockOf(
		of(batchAt(10, 2), 1), of(batchAt(12, 2), 2), batchAt(14, 1), mark(15, 1, abort), mark(16, 2, commit),
		of(batchAt(17, 1), 1), mark(18, 1, commit), of(batchAt(19, 1), 2), mark(20, 2, abort))
	r.AbortedTransactions = []*sarama.AbortedTransaction{{ProducerID: 2, FirstOffset: 19}, {ProducerID: 1, FirstOffset: 10}}
	b, err := unpack(r, 10)
	if got := offsets(b); err != nil || b.next != 21 || !slices.Equal(got, []int64{12, 13, 14, 17}) {
		t.Errorf("offsets %v, next %d, %v", got, b.next, err)
	}
}

func TestATornBatchIsReadNextTime(t *testing.T) {
	torn := batchAt(13, 2)
	torn.PartialTrailingRecord = true
	b, err := unpack(blockOf(batchAt(10, 3), torn), 10)
	if err != nil || len(b.messages) != 3 || b.next != 13 {
		t.Errorf("%v, next %d, %v", offsets(b), b.next, err)
	}
}

func TestWithoutTheLogsClockTimeIsTheSenders(t *testing.T) {
	batch := batchAt(10, 2)
	batch.LogAppendTime = false
	b, err := unpack(blockOf(batch), 10)
	if err != nil || b.messages[1].at != 1001 {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestABlockThatIsMissingOrAnErrorIsOne(t *testing.T) {
	if _, err := unpack(nil, 0); !errors.Is(err, errSilent) {
		t.Error(err)
	}
	if _, err := unpack(&sarama.FetchResponseBlock{Err: sarama.ErrNotLeaderForPartition}, 0); !errors.Is(err, sarama.ErrNotLeaderForPartition) {
		t.Error(err)
	}
}

// led is a client of one broker.
type led struct {
	sarama.Client
	broker *sarama.Broker
}

func (l led) Leader(string, int32) (*sarama.Broker, error) { return l.broker, nil }

// leading returns a client of a broker that gives these answers.
func leading(t *testing.T, answers ...*sarama.FetchResponseBlock) led {
	t.Helper()
	there := sarama.NewMockBroker(t, 1)
	t.Cleanup(there.Close)
	for _, b := range answers {
		there.Returns(&sarama.FetchResponse{Version: 11, Blocks: map[string]map[int32]*sarama.FetchResponseBlock{"t": {0: b}}})
	}
	here := sarama.NewBroker(there.Addr())
	conf := sarama.NewConfig()
	conf.ApiVersionsRequest = false // it would take the first answer
	if err := here.Open(conf); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	return led{broker: here}
}

// emptied is an answer whose only batch, from 10 to 1,000,009, has lost its
// records.
func emptied() *sarama.FetchResponseBlock {
	batch := batchAt(10, 1_000_000)
	batch.Version, batch.Records = 2, nil
	b := blockOf(batch)
	b.HighWaterMarkOffset, b.LastStableOffset = 2_000_000, 2_000_000
	return b
}

func TestALongBatchWithoutRecordsIsPassedAtOnce(t *testing.T) {
	full := batchAt(1_000_010, 1)
	full.Version = 2
	c := leading(t, emptied(), blockOf(full))
	b, err := fetchOne(c, "t", 0, 10, fetchBytes, true)
	if err != nil || b.next != 1_000_010 || b.behind(10, true) {
		t.Fatalf("to %d, %v", b.next, err)
	}
	if b, err = fetchOne(c, "t", 0, b.next, fetchBytes, true); err != nil || len(b.messages) != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}

// An offset that is passed by mistake is a record that is lost.
func TestNothingIsPassedThatMayStillCome(t *testing.T) {
	silent := func(end, stable int64) *sarama.FetchResponseBlock {
		return &sarama.FetchResponseBlock{HighWaterMarkOffset: end, LastStableOffset: stable}
	}
	torn := batchAt(1_000_010, 2)
	torn.PartialTrailingRecord = true
	partial := &sarama.FetchResponseBlock{HighWaterMarkOffset: 13, LastStableOffset: 13, RecordsSet: []*sarama.Records{{RecordBatch: torn}}}
	for _, c := range []struct {
		answer *sarama.FetchResponseBlock
		behind bool
	}{{silent(10, 10), false}, {silent(13, 10), false}, {silent(13, 13), true}, {partial, true}} {
		b, err := unpack(c.answer, 10)
		if err != nil || b.next != 10 || b.behind(10, true) != c.behind {
			t.Errorf("to %d, behind %v, %v", b.next, b.behind(10, true), err)
		}
	}
}
