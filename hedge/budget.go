package hedge

import "sync/atomic"

// token is one copy, in the unit that a purse counts in: fine enough for a
// ratio of one in a billion, coarse enough for the largest burst.
const token int64 = 1 << 40

// tariff is what a purse pays in and holds at most. It is shared by all
// policies of one configuration.
type tariff struct {
	deposit int64 // a call's share of a copy, rounded down: never more than Ratio
	limit   int64
}

func newTariff(c BudgetConfig) tariff {
	return tariff{
		deposit: int64(c.Ratio * float64(token)),
		limit:   int64(c.Burst) * token,
	}
}

// purse holds what calls have paid in for copies. A full purse, which is the
// usual one, is only read by calls, so that they share its cache line.
type purse struct{ held atomic.Int64 }

// fill makes the purse a full one.
func (p *purse) fill(t tariff) { p.held.Store(t.limit) }

// put adds amount, as far as it fits.
func (p *purse) put(t tariff, amount int64) {
	for {
		held := p.held.Load()
		if held >= t.limit || p.held.CompareAndSwap(held, min(held+amount, t.limit)) {
			return
		}
	}
}

// take takes one token, if there is one.
func (p *purse) take() bool {
	for {
		held := p.held.Load()
		if held < token {
			return false
		}
		if p.held.CompareAndSwap(held, held-token) {
			return true
		}
	}
}

// tokens returns how many copies the purse pays for.
func (p *purse) tokens() float64 { return float64(p.held.Load()) / float64(token) }

// spend pays for one copy: out of the policy's own budget, and out of the
// shared one if there is one. What a shared budget refuses is not paid.
func (p *Policy) spend() bool {
	if !p.purse.take() {
		return false
	}
	if p.shared != nil && !p.shared.TrySpend() {
		p.purse.put(p.settings.tariff, token)
		return false
	}
	return true
}

// refund gives back what was paid for a copy that was not sent.
func (p *Policy) refund() {
	p.purse.put(p.settings.tariff, token)
	if b, ok := p.shared.(interface{ Refund() }); ok {
		b.Refund()
	}
}
