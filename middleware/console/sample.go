package console

import (
	"cmp"
	"slices"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// sample is what all pipelines looked like at one moment. It is shared by all
// who watch, and never changed.
type sample struct {
	at    backstay.Instant
	took  time.Duration
	rows  []row // most trouble first
	total summary

	actors *Actors // nil where there are no nodes
}

// row is one pipeline.
type row struct {
	source string
	target string
	key    string
	status middleware.Status
	series *series
	load   load
	level  level
	signs  []string
}

// summary is what all pipelines went through together.
type summary struct {
	pipelines int
	left      int // not looked at, because there are too many
	unheard   int // of which nothing was heard, though calls went through
	levels    [levels]int
	bars      [measures]Bars
	inFlight  int64
	queued    int64
}

// patience is how many times as long as a look took nobody gets another one:
// looking takes at most so much of one processor.
const patience = 10

// pause is how long a sample serves all who ask.
func pause(interval, took time.Duration) time.Duration {
	return max(interval-interval/10, patience*took)
}

// look returns a sample of now, or the last one if that is recent enough.
// Whoever asks while somebody else looks waits for the same sample.
func (c *Console) look() *sample {
	c.looking.Lock()
	defer c.looking.Unlock()
	c.mu.Lock()
	last, sources, nodes := c.sample, c.sources, c.nodes
	c.mu.Unlock()
	now := backstay.Now()
	if last != nil && now.Sub(last.at) < pause(c.config.Interval, last.took) {
		return last
	}
	s := take(now, spread(sources), c.config.MaxPipelines, c.memory)
	s.actors = lookAt(nodes, c.config.PageSize)
	s.took = backstay.Now().Sub(now)
	c.mu.Lock()
	c.sample = s
	c.mu.Unlock()
	return s
}

// take looks at the pipelines of sources, at most limit of them.
func take(now backstay.Instant, sources []source, limit int, memory *observer) *sample {
	s := &sample{at: now}
	for _, from := range sources {
		size := from.size()
		s.total.pipelines += size
		room := limit - len(s.rows)
		looked := 0
		for key, p := range from.all {
			if looked == room {
				break
			}
			looked++
			r, b := newRow(now, from, key, p, memory)
			s.rows = append(s.rows, r)
			s.total.add(&r, &b)
		}
		s.total.left += max(size-looked, 0)
	}
	slices.SortFunc(s.rows, byTrouble)
	return s
}

// newRow returns the row of p, and the history that its level was judged by.
func newRow(now backstay.Instant, from source, key string, p *middleware.Pipeline, memory *observer) (row, [measures]Bars) {
	r := row{source: from.name, target: from.target, key: key, status: p.Status(), series: memory.find(from.target, key)}
	b := r.series.all(now)
	r.load = load{calls: b[calls].lately(), failed: b[failed].lately(), minute: b[calls].sum(), faults: b[faults].sum()}
	r.level, r.signs = judge(r.status, r.load)
	return r, b
}

// byTrouble orders by what needs attention, then by name: so that rows move
// only where something happens.
func byTrouble(a, b row) int {
	return cmp.Or(
		cmp.Compare(a.level, b.level),
		cmp.Compare(a.source, b.source),
		cmp.Compare(a.key, b.key),
	)
}

// add counts r in, whose history is b.
func (t *summary) add(r *row, b *[measures]Bars) {
	t.levels[r.level]++
	if held := r.status.Bulkhead; held != nil {
		t.inFlight += held.InFlight
		t.queued += held.Queued
	}
	if window := r.status.Breaker; r.series == nil && window != nil && window.Calls > 0 {
		t.unheard++
	}
	for m := range b {
		for i, n := range b[m] {
			t.bars[m][i] += n
		}
	}
}
