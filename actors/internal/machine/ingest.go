package machine

import (
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/idempotency"
)

// CodeNotIngested is the reason of the dead letter of a message that could not
// be made a request.
const CodeNotIngested = "not_ingested"

// ingest takes messages of a source topic in: those from exactly where the last
// ended, so that none is skipped (R47) and none comes twice (R48).
func (c *change) ingest(r *record.Ingest) Void {
	from := source{r.Topic, r.TopicPartition}
	if r.From != c.ingress[from] || r.To <= r.From {
		return VoidPosition
	}
	c.ingress[from] = r.To
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Dead != nil {
			c.bury(m.Dead)
			continue
		}
		partition, offset := strconv.FormatUint(uint64(r.TopicPartition), 10), strconv.FormatUint(m.Offset, 10)
		c.put(record.Dest{Partition: m.Call.Target.Partition()}, &record.Request{
			Link: record.Link{ID: record.IngestID(r.Topic, r.TopicPartition, m.Offset)}, Target: m.Call.Target,
			Deadline: c.deadline(m.Call.TTL, m.Call.Deadline), NotBefore: m.Call.NotBefore,
			Method: m.Call.Method, Args: m.Call.Args, Baggage: m.Call.Baggage, Kept: m.Call.Kept,
			Key: idempotency.Derive("ingest", r.Topic, partition, offset),
		})
	}
	return Effective
}

// bury makes a dead letter of a message.
func (c *change) bury(m *record.Posted) {
	c.put(record.Dest{Topic: m.Topic}, &record.Letter{
		Key: m.Key, Value: m.Value, Headers: m.Headers, Dead: &record.Dead{Reason: CodeNotIngested, At: c.clock},
	})
}
