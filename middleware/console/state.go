package console

import (
	"math"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// State is what the console tells: the answer of state.json, and the data of
// every event of the stream. Its lists are bounded, and say what they leave
// out. Points in time are Unix milliseconds, durations milliseconds, rates
// those of the last 10 s; bars are counts in steps of 2 s, the oldest first.
type State struct {
	Now      int64 `json:"now"`
	Interval int64 `json:"interval_ms"`
	Step     int64 `json:"step_ms"`
	// Actions is true where the one who asks may act on breakers.
	Actions bool     `json:"actions"`
	Totals  Totals   `json:"totals"`
	Actors  *Actors  `json:"actors,omitempty"` // where nodes were added
	Page    Page     `json:"page"`
	Rows    []Row    `json:"rows"`
	Detail  *Detail  `json:"detail,omitempty"`
	Notices []Notice `json:"notices"`
	Dropped int64    `json:"notices_dropped,omitempty"`
}

// Totals sum up all pipelines.
type Totals struct {
	Pipelines int `json:"pipelines"`
	// NotSeen is how many of them were not looked at, because there are more
	// than Config.MaxPipelines; nothing below knows of them.
	NotSeen int `json:"not_seen,omitempty"`
	// Unheard is how many have had calls of which the observer was not told.
	Unheard int            `json:"unheard,omitempty"`
	Levels  map[string]int `json:"levels"`
	Rates
	InFlight int64  `json:"in_flight"`
	Queued   int64  `json:"queued"`
	Faults   uint64 `json:"faults,omitempty"`
	Calls    Bars   `json:"calls"`
	Failed   Bars   `json:"failed"`
}

// Rates are how often a second something happened.
type Rates struct {
	CallRate     float64 `json:"calls_per_s"`
	FailedRate   float64 `json:"failed_per_s"`
	RefusedRate  float64 `json:"refused_per_s"`
	RetryRate    float64 `json:"retries_per_s"`
	CopyRate     float64 `json:"copies_per_s"`
	FallbackRate float64 `json:"fallbacks_per_s"`
}

// Page says which pipelines Rows are.
type Page struct {
	Number  int `json:"number"` // from 1
	Pages   int `json:"pages"`
	Size    int `json:"size"`
	Matched int `json:"matched"` // by the query, on all pages
	First   int `json:"first"`   // from 1, 0 where there are none
}

// Row is one pipeline.
type Row struct {
	ID    string            `json:"id"`
	Name  string            `json:"name"`
	Key   string            `json:"key,omitempty"`
	Level string            `json:"level"`
	Signs []string          `json:"signs,omitempty"`
	State middleware.Status `json:"status"`
	Rates
	// FailedShare is that of the calls of the last 10 s; null without calls.
	FailedShare *float64 `json:"failed_share"`
	Wins        uint64   `json:"copies_won,omitempty"` // in the last minute
	Copies      uint64   `json:"copies,omitempty"`     // in the last minute
	// Latency is that of calls in the last 30 to 60 s, those that were refused
	// or cancelled left out; null without any.
	Latency *Latency `json:"latency"`
	Calls   Bars     `json:"calls"`
	Failed  Bars     `json:"failed"`
	// Changes are the latest transitions of the breaker, the oldest first.
	Changes []Change `json:"changes,omitempty"`
}

// Latency is how long calls took, within 6 %.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
}

// Change is one transition of a breaker.
type Change struct {
	At     int64   `json:"at"`
	From   string  `json:"from"`
	To     string  `json:"to"`
	Reason string  `json:"reason,omitempty"`
	Wait   float64 `json:"wait_ms,omitempty"` // how long it stays open
}

// Detail is all that is known of one pipeline.
type Detail struct {
	Row
	Refused   Bars     `json:"refused"`
	Retries   Bars     `json:"retries"`
	Fallbacks Bars     `json:"fallbacks"`
	Notices   []Notice `json:"notices"`
}

// Notice is a notable event.
type Notice struct {
	At     int64   `json:"at"`
	Kind   string  `json:"kind"`
	Name   string  `json:"name,omitempty"` // the target's
	Key    string  `json:"key,omitempty"`
	Class  string  `json:"outcome,omitempty"`
	Reason string  `json:"reason,omitempty"`
	From   string  `json:"from,omitempty"`
	To     string  `json:"to,omitempty"`
	Rung   string  `json:"rung,omitempty"`
	Wait   float64 `json:"wait_ms,omitempty"`
	Error  string  `json:"error,omitempty"`
	// Count is how often the same happened within the next 10 s.
	Count int64 `json:"count"`
	// Injected is true for a fault that was injected on purpose.
	Injected bool `json:"injected,omitempty"`
}

// state returns what q asks for.
func (c *Console) state(q query, actions bool) State {
	s := c.look()
	chosen, page, matched := q.choose(s.rows, c.config.PageSize)
	st := State{
		Now: millis(s.at), Interval: c.config.Interval.Milliseconds(), Step: step.Milliseconds(),
		Actions: actions, Totals: s.totals(), Actors: s.actors, Rows: make([]Row, 0, len(chosen)),
		Page: Page{
			Number: page + 1, Pages: max((matched+c.config.PageSize-1)/c.config.PageSize, 1),
			Size: c.config.PageSize, Matched: matched,
		},
		Dropped: c.memory.journal.dropped.Load(),
	}
	if matched > 0 {
		st.Page.First = page*c.config.PageSize + 1
	}
	for _, r := range chosen {
		st.Rows = append(st.Rows, r.show(s.at))
	}
	written := c.memory.journal.latest()
	st.Notices = show(written, func(n *notice) bool { return q.names(n.event.Policy, n.event.Key) })
	st.Detail = s.detail(q.id, written)
	return st
}

// detail returns all that is known of the pipeline with the id; nil if there is
// none.
func (s *sample) detail(id string, written []*notice) *Detail {
	if id == "" {
		return nil
	}
	for i := range s.rows {
		r := &s.rows[i]
		if identity(r.source, r.key) != id {
			continue
		}
		return &Detail{
			Row:     r.show(s.at),
			Refused: r.series.bars(refused, s.at), Retries: r.series.bars(retries, s.at), Fallbacks: r.series.bars(fallbacks, s.at),
			Notices: show(written, func(n *notice) bool { return n.event.Policy == r.target && n.event.Key == r.key }),
		}
	}
	return nil
}

func (s *sample) totals() Totals {
	t := &s.total
	shown := Totals{
		Pipelines: t.pipelines, NotSeen: t.left, Unheard: t.unheard, Levels: make(map[string]int, levels),
		Rates: ratesOf(&t.bars), InFlight: t.inFlight, Queued: t.queued,
		Faults: t.bars[faults].sum(), Calls: t.bars[calls], Failed: t.bars[failed],
	}
	for l, n := range t.levels {
		shown.Levels[level(l).String()] = n
	}
	return shown
}

func ratesOf(b *[measures]Bars) Rates {
	return Rates{
		CallRate: b[calls].rate(), FailedRate: b[failed].rate(), RefusedRate: b[refused].rate(),
		RetryRate: b[retries].rate(), CopyRate: b[copies].rate(), FallbackRate: b[fallbacks].rate(),
	}
}

// show returns r as it is told.
func (r *row) show(now backstay.Instant) Row {
	b := r.series.all(now)
	shown := Row{
		ID: identity(r.source, r.key), Name: clip(r.source, shownName), Key: clip(r.key, shownName),
		Level: r.level.String(), Signs: r.signs, State: r.status, Rates: ratesOf(&b),
		Copies: b[copies].sum(), Wins: b[wins].sum(), Calls: b[calls], Failed: b[failed],
	}
	shown.State.Name, shown.State.Key = "", "" // told above, in full or clipped
	if share := r.load.failedShare(); !math.IsNaN(share) {
		shown.FailedShare = &share
	}
	if p, ok := r.series.percentiles(now); ok {
		shown.Latency = &Latency{ms(p.p50), ms(p.p95), ms(p.p99)}
	}
	for _, t := range r.series.transitions() {
		shown.Changes = append(shown.Changes, Change{millis(t.at), t.from, t.to, string(t.why), ms(t.wait)})
	}
	return shown
}

// show returns those of the notices that are wanted, as they are told.
func show(written []*notice, wanted func(*notice) bool) []Notice {
	shown := make([]Notice, 0, shownNotices)
	for _, n := range written {
		if len(shown) == shownNotices {
			break
		}
		if wanted(n) {
			shown = append(shown, n.show())
		}
	}
	return shown
}

func (n *notice) show() Notice {
	e := n.event
	shown := Notice{
		At: millis(n.at), Kind: clip(string(e.Kind), shownName), Name: clip(e.Policy, shownName), Key: clip(e.Key, shownName),
		Reason: clip(string(e.Reason), shownName), From: e.From, To: e.To, Rung: clip(e.Rung, shownName),
		Wait: ms(e.Wait), Error: n.text, Count: n.count.Load(), Injected: e.Kind == backstay.FaultInjected,
	}
	if e.Outcome.Class != backstay.Success {
		shown.Class = e.Outcome.Class.String()
	}
	return shown
}

// millis returns the point in time that i stands for, in Unix milliseconds.
func millis(i backstay.Instant) int64 { return i.Time().UnixMilli() }

// ms returns d in milliseconds, to the microsecond.
func ms(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
