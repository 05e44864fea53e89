package bulkhead

import (
	"cmp"
	"context"
	"math"
	"time"
)

// A plan is a Config made ready. It never changes, so that thousands of clones
// can share one.
type plan struct {
	limit     int64          // the fixed limit, or where an adaptive one starts
	share     [ranks]float64 // how much of the limit a priority may fill
	maxQueue  int64
	maxWait   time.Duration
	adaptive  *AdaptiveConfig // defaults filled in; nil: fixed
	rate      *RateConfig     // defaults filled in; nil: none
	holdBody  bool
	ordered   bool // priorities count
	weighted  bool // weights are looked up
	asks      bool // ordered or weighted: the context has a say
	unlimited bool
	clocked   bool // adaptive or rate: the time has a say
	watched   bool // adaptive or holdBody: the answer has a say
}

func makePlan(c Config) *plan {
	p := &plan{
		maxQueue: int64(c.MaxQueue),
		maxWait:  c.MaxWait,
		holdBody: c.HoldBody,
		ordered:  c.Priorities != nil,
		weighted: c.Weighted,
		asks:     c.Priorities != nil || c.Weighted,
		share:    [ranks]float64{1, 1, 1},
	}
	p.setLimit(c.Limit)
	if c.Priorities != nil {
		d := c.Priorities.withDefaults()
		p.share = [ranks]float64{1, d.DefaultShare, d.SheddableShare}
	}
	if c.Adaptive != nil {
		d := c.Adaptive.withDefaults()
		p.adaptive = &d
		p.limit = d.start(c.Limit)
	}
	if c.Rate != nil {
		d := c.Rate.withDefaults()
		p.rate = &d
	}
	p.clocked = p.adaptive != nil || p.rate != nil
	p.watched = p.adaptive != nil || p.holdBody
	return p
}

// setLimit turns the notation of Config.Limit into a number.
func (p *plan) setLimit(limit int64) {
	p.unlimited = limit == Unlimited
	if p.unlimited {
		limit = maxLimit
	}
	p.limit = cmp.Or(limit, DefaultLimit)
}

// ceiling is the decision who fits: a call is admitted if what is in flight,
// its own weight included, does not exceed the ceiling of its rank. Shares
// round up, so that even a limit of 1 leaves a place for everybody.
func (p *plan) ceiling(limit int64, r rank) int64 {
	if !p.ordered || p.share[r] == 1 {
		return limit
	}
	const slip = 1e-9 // 0.55 * 100 is 55.00000000000001
	return max(1, int64(math.Ceil(float64(limit)*p.share[r]-slip)))
}

// ask reads from ctx what the plan has use for.
func (p *plan) ask(ctx context.Context) (weight int64, r rank) {
	if p.weighted {
		return WeightFrom(ctx), p.rank(ctx)
	}
	return 1, p.rank(ctx)
}

func (p *plan) rank(ctx context.Context) rank {
	if p.ordered {
		return PriorityFrom(ctx).rank()
	}
	return defaultRank
}
