package kafka

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// Health is what is wrong between this process and the brokers. Nothing of it
// ends the process: everything is tried again.
type Health struct {
	// Problems are the parts of the Log whose last act has failed, each by
	// itself: with this topic, this partition, for this cause. One that was not
	// met again for 15 min is forgotten: its partition has moved, or its owner
	// is gone.
	Problems []Problem
	// Lags are how many offsets readers are behind the ends of their logs, as
	// of their last fetch, where they are.
	Lags map[journal.Partition]int64
	// Queued are the appends and messages that no broker has acknowledged, and
	// their bytes.
	Queued, QueuedBytes int
	// Direct is how direct answers go; zero without Config.Direct.
	Direct DirectHealth
}

// Problem is one of a part of the Log.
type Problem struct {
	// Part is "append", "publish", "ingest", "read", "snapshot", "truncate",
	// "topics", "membership" or "direct".
	Part string
	// Topic is the one that it happened with; of direct connections, the address
	// of the owner.
	Topic string
	// Partition is that of the topic, -1 where it is about none in particular.
	Partition int32
	// Cause is, of "membership", the kind of the [MemberEvent]: "beat failed",
	// "read failed", "group failed" or "eviction failed"; of a "publish" to a
	// topic of Config.ExactlyOnce, for which partition of actors. It is empty for
	// the rest.
	Cause string
	// Since is when it began, as of the first failure in a row; Last is the
	// time of the last one.
	Since, Last time.Time
	// Times is how often it has failed since.
	Times int
	// Err is the last error.
	Err error
}

// Health returns what is wrong now.
func (l *Log) Health() Health {
	h := Health{Problems: l.vitals.problems(), Lags: l.fetcher.lags(), Direct: l.lines.health()}
	for _, p := range []interface{ waiting() (records, bytes int) }{l.appender, l.publisher, l.egress, &l.pending} {
		n, bytes := p.waiting()
		h.Queued, h.QueuedBytes = h.Queued+n, h.QueuedBytes+bytes
	}
	return h
}

// vitals are the problems of the parts.
type vitals struct {
	sick atomic.Int32 // how many there are: most often none

	mu  sync.Mutex
	ill map[vital]*Problem
}

// vital is what can be well or ill by itself: what succeeds says nothing of
// another topic, partition or cause.
type vital struct {
	part, topic string
	partition   int32
	cause       string
}

// noPartition is that of what is about none in particular.
const noPartition = -1

// forgetAfter is how long a problem is told of that is not met again.
const forgetAfter = 15 * time.Minute

// note notes how an act has ended.
func (v *vitals) note(key vital, err error) {
	if err == nil && v.sick.Load() == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.ill[key]
	switch {
	case err == nil && p != nil:
		delete(v.ill, key)
		v.sick.Add(-1)
	case err != nil:
		if p == nil {
			if v.ill == nil {
				v.ill = make(map[vital]*Problem)
			}
			p = &Problem{Part: key.part, Topic: key.topic, Partition: key.partition, Cause: key.cause, Since: time.Now()}
			v.ill[key] = p
			v.sick.Add(1)
		}
		p.Times++
		p.Last, p.Err = time.Now(), err
	}
}

func (v *vitals) problems() []Problem {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]Problem, 0, len(v.ill))
	for key, p := range v.ill {
		if time.Since(p.Last) > forgetAfter {
			delete(v.ill, key)
			v.sick.Add(-1)
			continue
		}
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Cause, b.Cause))
	})
	return all
}
