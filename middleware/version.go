package middleware

import (
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// version is a pipeline as one plan makes it. A call goes by the version that
// it began with, to its end; what did not change is the same in the next one.
type version struct {
	*plan
	retry    retry.Policy // by value, which saves memory; see [version.retries]
	breaker  *breaker.Breaker
	bulkhead *bulkhead.Bulkhead
	crew     *crew // nil where every call stays on its caller's goroutine
}

// crew are the policies that need goroutines. Either may be nil.
type crew struct {
	hedge   *hedge.Policy
	timeout *timeout.Policy
}

// furnish makes v a version of p by the plan pl, with what there is already of
// the version before.
func (v *version) furnish(p *Pipeline, pl *plan, before *version) {
	v.plan = pl
	model, was := &pl.prototype, &before.prototype
	switch model.retry {
	case nil:
	case was.retry:
		v.retry = before.retry
	default:
		v.retry = *model.retry.Clone(&p.scope)
	}
	v.breaker = before.breaker
	if model.breaker != was.breaker && !before.breaker.Adopt(model.breaker) {
		v.breaker = model.breaker.Clone(&p.scope)
	}
	v.bulkhead = before.bulkhead
	if model.bulkhead != was.bulkhead {
		v.bulkhead = model.bulkhead.Clone(&p.scope)
	}
	v.crew = p.newCrew(pl, before)
}

// newCrew makes the policies that need goroutines, if there are any.
func (p *Pipeline) newCrew(pl *plan, before *version) *crew {
	model, was := &pl.prototype, &before.prototype
	if model.hedge == nil && !model.timeout.Abandons() {
		return nil
	}
	c := new(crew)
	if before.crew != nil {
		*c = *before.crew
	}
	if before.crew == nil || model.timeout != was.timeout {
		c.timeout = model.timeout.Clone(&p.scope)
	}
	if before.crew == nil || model.hedge != was.hedge {
		c.hedge = model.hedge.Clone(&p.scope, hedge.WithGate(p.healthy), hedge.WithBudget((*budget)(p)))
	}
	return c
}

// admits reports whether the breaker would let another attempt through.
func (v *version) admits() bool {
	s := v.breaker.State()
	return s != breaker.Open && s != breaker.ForcedOpen
}

// retries returns the retry policy; nil if there is none.
func (v *version) retries() *retry.Policy {
	if v.prototype.retry == nil {
		return nil
	}
	return &v.retry
}

// hedges returns the hedge policy; nil if there is none.
func (v *version) hedges() *hedge.Policy {
	if v.crew == nil {
		return nil
	}
	return v.crew.hedge
}

// timeouts returns the timeout policy; nil if there is none.
func (v *version) timeouts() *timeout.Policy {
	if v.crew == nil {
		return v.prototype.timeout
	}
	return v.crew.timeout
}

// late returns how much work runs on goroutines of the version's own.
func (v *version) late() int {
	if v.crew == nil {
		return 0
	}
	return v.crew.hedge.Late() + v.crew.timeout.Late()
}
