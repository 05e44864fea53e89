package console

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
)

const (
	// maxTargets bounds the names that are remembered, since anybody can make
	// up one.
	maxTargets = 1000
	// forget is when the series of a pipeline that is silent goes.
	forget = time.Hour
)

// observer is the memory of a console. It is told of the events of any number
// of pipelines, and takes no lock that others hold on the way of a call that
// goes well.
type observer struct {
	keys    int
	redact  func(error) string // nil where errors are not shown
	journal journal

	targets atomic.Pointer[targets] // replaced by a copy with one more
	adding  sync.Mutex              // held by the one who does so
}

// targets are the series of each target, by the keys of its pipelines.
type targets map[string]*keyed.Map[*series]

// Observe remembers e.
func (o *observer) Observe(_ context.Context, e backstay.Event) {
	if e.Kind == backstay.PipelineEvicted {
		o.evict(e)
		return
	}
	now := backstay.Now()
	target := o.target(e.Policy)
	if target == nil {
		o.journal.dropped.Add(1)
		return
	}
	s := target.Get(e.Key, now)
	s.hear(now, e)
	if notable(e) {
		o.tell(s, now, e)
	}
}

// known returns the targets that were heard of.
func (o *observer) known() targets {
	if all := o.targets.Load(); all != nil {
		return *all
	}
	return nil
}

// target returns the series of the target called name; nil if there are too
// many targets.
func (o *observer) target(name string) *keyed.Map[*series] {
	if m := o.known()[name]; m != nil {
		return m
	}
	o.adding.Lock()
	defer o.adding.Unlock()
	all := o.known()
	if m := all[name]; m != nil || len(all) == maxTargets {
		return m
	}
	more := make(targets, len(all)+1)
	maps.Copy(more, all)
	more[name] = keyed.New(
		keyed.Config{MaxKeys: o.keys, IdleAfter: forget},
		func(string) *series { return new(series) },
		keyed.Hooks[*series]{},
	)
	o.targets.Store(&more)
	return more[name]
}

// evict forgets a pipeline that has been given up.
func (o *observer) evict(e backstay.Event) {
	if m := o.known()[e.Policy]; m != nil {
		m.Delete(e.Key)
	}
}

// find returns the series of a pipeline; nil if nothing was heard of it.
func (o *observer) find(target, key string) *series {
	m := o.known()[target]
	if m == nil {
		return nil
	}
	s, _ := m.Peek(key)
	return s
}

// tell writes e down, or counts it with what was written before. Transitions
// are each written: their order is what matters.
func (o *observer) tell(s *series, now backstay.Instant, e backstay.Event) {
	var place *atomic.Pointer[notice]
	if e.Kind != backstay.BreakerChanged {
		again, free := s.notices.repeated(now, e)
		if again {
			return
		}
		if free == nil {
			o.journal.dropped.Add(1)
			return
		}
		place = free
	}
	n := &notice{at: now, event: e, text: o.text(e.Err)}
	n.event.Err = nil
	n.count.Store(1)
	if place != nil {
		if was := place.Load(); was.alive(now) || !place.CompareAndSwap(was, n) {
			o.raced(s, now, e)
			return
		}
	}
	o.journal.write(n)
}

// raced counts an event whose place another one took meanwhile.
func (o *observer) raced(s *series, now backstay.Instant, e backstay.Event) {
	if again, _ := s.notices.repeated(now, e); !again {
		o.journal.dropped.Add(1)
	}
}

// text returns what may be shown of err.
func (o *observer) text(err error) string {
	if err == nil || o.redact == nil {
		return ""
	}
	return clip(o.redact(err), longest)
}
