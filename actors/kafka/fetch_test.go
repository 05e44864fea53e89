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
