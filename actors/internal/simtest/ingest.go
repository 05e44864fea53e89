package simtest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/idempotency"
)

// What is known of ordinary topics and of what is taken in from them.

// ingest makes requests of messages, from exactly where the position is.
func (a *account) ingest(r *record.Ingest) bool {
	from := origin(r)
	if r.From != a.ingress[from] || r.To <= r.From {
		return false
	}
	a.ingress[from] = r.To
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Dead != nil {
			a.put(record.Dest{Topic: m.Dead.Topic}, &record.Letter{})
			continue
		}
		a.put(record.Dest{Partition: m.Call.Target.Partition()}, &record.Request{
			Link: record.Link{ID: record.IngestID(r.Topic, r.TopicPartition, m.Offset)}, Target: m.Call.Target,
			Deadline: a.deadline(m.Call.TTL, m.Call.Deadline), NotBefore: m.Call.NotBefore,
			Method: m.Call.Method, Args: m.Call.Args, Baggage: m.Call.Baggage,
			Key: idempotency.Derive("ingest", r.Topic, strconv.FormatUint(uint64(r.TopicPartition), 10), strconv.FormatUint(m.Offset, 10)),
		})
	}
	return true
}

func origin(r *record.Ingest) journal.Source {
	return journal.Source{Topic: r.Topic, Partition: r.TopicPartition}
}

// objectIngest: what is taken in is there, comes in its order, and has not come
// before. A position is an offset and 1.
func (j *Judge) objectIngest(r *record.Ingest) (all []string) {
	from := origin(r)
	if end := uint64(j.supply[from]) + 1; r.To > end { //nolint:gosec // positive
		all = append(all, fmt.Sprintf("P11: %v is taken in up to %d, and ends at %d", from, r.To, end))
	}
	next := max(r.From, 1) - 1
	for i := range r.Messages {
		switch offset := r.Messages[i].Offset; {
		case j.told[from][offset]:
			all = append(all, fmt.Sprintf("P11: message %d of %v comes twice", offset, from))
		case offset < next || offset+1 >= r.To:
			all = append(all, fmt.Sprintf("P11: message %d of %v is out of its order, where %d is next", offset, from, next))
		default:
			next = offset + 1
		}
	}
	return all
}

// noteIngest remembers what has come.
func (j *Judge) noteIngest(r *record.Ingest) {
	from := origin(r)
	if j.told[from] == nil {
		j.told[from] = make(map[uint64]bool)
	}
	for i := range r.Messages {
		j.told[from][r.Messages[i].Offset] = true
	}
}

// supplied notes how many messages a source has.
func (j *Judge) supplied(s journal.Source, n int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.supply[s] = n
}

// want notes that a source is taken in.
func (j *Judge) want(s journal.Source) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wanted[s] = true
}

// untold are the sources that have more messages than were taken in. mu is held.
func (j *Judge) untold() (left []string) {
	for s := range j.wanted {
		var position uint64
		for _, l := range j.ledgers {
			position = max(position, l.ingress[s])
		}
		if n := j.supply[s]; n > 0 && position < uint64(n)+1 { //nolint:gosec // positive
			left = append(left, fmt.Sprintf("%v is taken in up to %d of %d", s, max(position, 1)-1, n))
		}
	}
	slices.Sort(left)
	return left
}
