package middleware

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
)

// Status is what a pipeline looks like at one moment: for reports, gauges and
// consoles. It is plain data. The parts were read one after another, while
// calls went on. A policy that the pipeline does not have is nil.
type Status struct {
	// Name is the target's, Key tells its pipelines apart.
	Name string `json:"name,omitempty"`
	Key  string `json:"key,omitempty"`
	// Closed is true where further calls are refused.
	Closed bool `json:"closed,omitempty"`
	// Abandoned is how many attempts run on goroutines of their own, which is
	// what every attempt does that may be abandoned.
	Abandoned int `json:"abandoned,omitempty"`

	Budget   *BudgetStatus   `json:"budget,omitempty"`
	Breaker  *BreakerStatus  `json:"breaker,omitempty"`
	Bulkhead *BulkheadStatus `json:"bulkhead,omitempty"`
	Hedge    *HedgeStatus    `json:"hedge,omitempty"`
}

// BudgetStatus is the state of a retry budget.
type BudgetStatus struct {
	// Available is how many retries can be paid for now.
	Available float64 `json:"available"`
}

// BreakerStatus is the state of a breaker.
type BreakerStatus struct {
	// State is closed, open, half-open, forced-open, forced-closed or
	// metrics-only.
	State string `json:"state"`
	// Calls, Failures, Slow and Consecutive are what the window holds; see
	// breaker.Counts.
	Calls       int `json:"calls"`
	Failures    int `json:"failures"`
	Slow        int `json:"slow"`
	Consecutive int `json:"consecutive"`
}

// BulkheadStatus is the state of a bulkhead.
type BulkheadStatus struct {
	// InFlight is the weight of the permits that are given out, Limit the most
	// that may be; -1 if there is none. Queued is how many calls wait.
	InFlight int64 `json:"in_flight"`
	Queued   int64 `json:"queued"`
	Limit    int64 `json:"limit"`
}

// HedgeStatus is the state of hedging.
type HedgeStatus struct {
	// Delay is the time after which a copy is sent; 0 while there are too few
	// samples, or the backend is too slow as a whole.
	Delay time.Duration `json:"delay_ns"`
	// Tokens is how many copies hedging's own budget pays for.
	Tokens float64 `json:"tokens"`
	// Suspended is true while the breaker is not closed or the bulkhead full.
	Suspended bool `json:"suspended"`
	// Copies is how many copies run beside the first of their call.
	Copies int `json:"copies"`
}

// Status returns the state of p now; that of a nil p is empty.
func (p *Pipeline) Status() Status {
	if p == nil {
		return Status{}
	}
	v := p.now()
	s := Status{
		Name: p.scope.Policy, Key: p.scope.Key, Closed: v.refuses(), Abandoned: v.timeouts().Late(),
		Budget: v.budgetStatus(), Breaker: v.breakerStatus(), Bulkhead: bulkheadStatus(v.bulkhead),
	}
	if h := v.hedges(); h != nil {
		s.Hedge = hedgeStatus(h)
	}
	return s
}

func (v *version) budgetStatus() *BudgetStatus {
	available := v.retries().Budget().Available()
	if math.IsInf(available, 1) { // there is none, or it is off
		return nil
	}
	return &BudgetStatus{Available: available}
}

func (v *version) breakerStatus() *BreakerStatus {
	if v.breaker == nil {
		return nil
	}
	c := v.breaker.Counts()
	return &BreakerStatus{
		State: v.breaker.State().String(),
		Calls: c.Calls, Failures: c.Failures, Slow: c.Slow, Consecutive: c.Consecutive,
	}
}

func bulkheadStatus(b *bulkhead.Bulkhead) *BulkheadStatus {
	if b == nil {
		return nil
	}
	return &BulkheadStatus{InFlight: b.InFlight(), Queued: b.Queued(), Limit: b.Limit()}
}

func hedgeStatus(h *hedge.Policy) *HedgeStatus {
	now := h.State()
	able := now
	able.Tokens, able.Suspended = 1, false // the delay is told also while nothing may be sent
	delay, _ := h.Plan(able)
	return &HedgeStatus{Delay: delay, Tokens: now.Tokens, Suspended: now.Suspended, Copies: h.Late()}
}

// Statuses returns the state of every pipeline, ordered by key.
func (r *Registry) Statuses() []Status {
	all := make([]Status, 0, r.Len())
	for _, p := range r.All {
		all = append(all, p.Status())
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Key, b.Key) })
	return all
}
