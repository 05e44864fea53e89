package kafka

import (
	"errors"
	"time"

	"github.com/IBM/sarama"
)

// message is a record as it was fetched. Its bytes are those of the whole
// response: who keeps them copies them.
type message struct {
	offset  int64
	at      int64 // milliseconds since 1970
	key     []byte
	value   []byte
	headers []*sarama.RecordHeader
}

// Sizes and times of fetches.
const (
	fetchBytes = 4 << 20 // of a partition, and more than any batch
	longPoll   = 100 * time.Millisecond
)

// fetchRequest is an empty one, for what is committed only or for everything. Its
// version is spoken by every broker since Kafka 2.3.
func fetchRequest(wait time.Duration, committed bool) *sarama.FetchRequest {
	isolation := sarama.ReadUncommitted
	if committed {
		isolation = sarama.ReadCommitted
	}
	return &sarama.FetchRequest{
		Version: 11, Isolation: isolation, MinBytes: 1, MaxBytes: 50 << 20, MaxWaitTime: int32(wait.Milliseconds()), //nolint:gosec // a tenth of a second
		SessionEpoch: -1, // no session: the broker keeps nothing
	}
}

// block is what one partition had.
type block struct {
	messages []message
	next     int64 // where to go on
	first    int64 // of the log
	end      int64 // of the log
	stable   int64 // end of what is committed
}

// behind reports whether nothing came though the log goes on: another leader is
// not as far yet, or other partitions left no room.
func (b *block) behind(from int64, committed bool) bool {
	end := b.end
	if committed {
		end = min(end, b.stable)
	}
	return b.next == from && from < end
}

// errSilent: the response says nothing of a partition that it was asked for.
var errSilent = errors.New("kafka: the broker's answer has nothing about the partition")

// unpack takes a block of a response apart, from an offset on.
func unpack(b *sarama.FetchResponseBlock, from int64) (block, error) {
	if b == nil {
		return block{}, errSilent
	}
	if b.Err != sarama.ErrNoError {
		return block{}, b.Err
	}
	out := block{next: from, first: b.LogStartOffset, end: b.HighWaterMarkOffset, stable: b.LastStableOffset}
	if len(b.RecordsSet) == 0 && !b.Partial {
		out.next = max(from, emptyTo(b))
	}
	undone := abortedOf(b)
	for _, r := range b.RecordsSet {
		if batch := r.RecordBatch; batch != nil && !batch.PartialTrailingRecord {
			if !undone.has(batch) {
				out.add(batch)
			}
			out.next = max(out.next, batch.LastOffset()+1)
		}
	}
	return out, nil
}

// add adds the records of a batch: those from the offset on that was asked for,
// since a batch is answered whole. The marks of transactions are no records.
func (b *block) add(batch *sarama.RecordBatch) {
	for _, r := range batch.Records {
		offset := batch.FirstOffset + r.OffsetDelta
		if offset < b.next || batch.Control {
			continue
		}
		at := batch.MaxTimestamp // of all, where the log's clock counts
		if !batch.LogAppendTime {
			at = batch.FirstTimestamp.Add(r.TimestampDelta)
		}
		b.messages = append(b.messages, message{offset: offset, at: at.UnixMilli(), key: r.Key, value: r.Value, headers: r.Headers})
	}
}

// fetchOne fetches from one partition, at once.
func fetchOne(c sarama.Client, topic string, partition int32, from int64, bytes int32, committed bool) (block, error) {
	broker, err := c.Leader(topic, partition)
	if err != nil {
		return block{}, err
	}
	request := fetchRequest(0, committed)
	request.AddBlock(topic, partition, from, bytes, -1)
	response, err := broker.Fetch(request)
	if err != nil {
		_ = broker.Close() // it is opened again when it is next asked for
		return block{}, err
	}
	return unpack(response.GetBlock(topic, partition), from)
}
