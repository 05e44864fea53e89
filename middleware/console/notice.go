package console

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

const (
	// together is how long what happens again is counted instead of told.
	together = 10 * time.Second
	// different is how many different things are told of one pipeline within
	// that time. What is more is only counted.
	different = 8
	// remembered is how many notices are kept for the page.
	remembered = 200
	// longest is how many bytes of an error's text are kept.
	longest = 300
)

// notice is one notable event, and how often the same happened again soon.
type notice struct {
	at    backstay.Instant
	event backstay.Event // without its error, whose memory is the caller's
	text  string         // what may be shown of the error
	count atomic.Int64
}

// same reports whether e tells of the same as n, soon enough to be counted
// with it.
func (n *notice) same(now backstay.Instant, e backstay.Event) bool {
	return n.alive(now) && n.event.Kind == e.Kind && n.event.Reason == e.Reason
}

func (n *notice) alive(now backstay.Instant) bool { return n != nil && now.Sub(n.at) < together }

// notable reports whether e is worth a line on the page. What goes well, and
// what is a part of something that is told elsewhere, is not. A kind that is
// not known is: somebody thought that it should be told.
func notable(e backstay.Event) bool {
	switch e.Kind {
	case backstay.CallStarted, backstay.AttemptStarted, backstay.AttemptDone, backstay.RetryPlanned,
		backstay.HedgeStarted, backstay.HedgeDone, backstay.LimitChanged, backstay.PipelineEvicted,
		backstay.StepDone, backstay.StepFailed, backstay.DeadLetter, backstay.PartitionOwned, backstay.TakeoverPhase, backstay.SnapshotSaved:
		return false
	case backstay.CallDone:
		return e.Outcome.Class.Failure()
	case backstay.PartitionLost:
		return e.Err != nil // else it was handed over
	case backstay.RetrySuppressed:
		return e.Reason == backstay.ReasonBudgetEmpty
	default:
		return true
	}
}

// notices are what was told of one pipeline lately, so that a storm of the
// same is one line. The zero value is ready.
type notices [different]atomic.Pointer[notice]

// repeated counts e with a notice of the same, if there is one; otherwise free
// is a place for a new one, nil if there is none.
func (ns *notices) repeated(now backstay.Instant, e backstay.Event) (again bool, free *atomic.Pointer[notice]) {
	for i := range ns {
		switch n := ns[i].Load(); {
		case !n.alive(now):
			if free == nil {
				free = &ns[i]
			}
		case n.same(now, e):
			n.count.Add(1)
			return true, nil
		}
	}
	return false, free
}

// journal is the latest notices of all pipelines.
type journal struct {
	mu      sync.Mutex
	ring    [remembered]*notice
	written int
	// dropped is how many events were neither told nor counted.
	dropped atomic.Int64
}

func (j *journal) write(n *notice) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ring[j.written%remembered] = n
	j.written++
}

// latest returns the notices, the newest first.
func (j *journal) latest() []*notice {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]*notice, 0, min(j.written, remembered))
	for i := range cap(all) {
		all = append(all, j.ring[(j.written-1-i)%remembered])
	}
	return all
}
