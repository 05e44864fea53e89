package retry

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

// A Budget counts in thousandths of a token, and by fifths of its window.
const (
	token  = 1000
	slots  = 5
	refill = token / slots // of the burst, in each slot
)

// full is where a slot stops counting: three million tokens in a fifth of a
// window. A million deposits at the same moment do not overflow it.
const full = math.MaxUint32 - 1<<20*token

// unused stands for the end of the current slot where no slot has begun.
const unused = math.MinInt64

// Budget bounds retries, and hedged copies, by a share of the calls: every call
// earns a part of a token, every retry spends a whole one. What is not spent
// within the window expires. Beside it there is a burst, which calls do not
// earn and which grows back by one token a window.
//
// So N calls, whatever fails and whoever makes them, are followed by at most
// Ratio x N retries, plus the burst, plus what of the burst grew back.
//
// A Budget is safe for concurrent use and may be shared by policies (see
// [WithBudget]) and with hedge.Policy. A nil *Budget refuses nothing. It must
// be made with [NewBudget] or by a [Policy].
type Budget struct {
	limits atomic.Pointer[limits]
	turn   atomic.Int64  // the Instant at which the current slot ends
	earned atomic.Uint32 // in the current slot, which deposits add to without a lock

	burst uint32            // guarded by mu
	older [slots - 1]uint32 // what is left of earlier slots, oldest first; guarded by mu
	mu    sync.Mutex
}

// NewBudget returns a Budget with a full burst, or every fault of the
// configuration.
func NewBudget(c BudgetConfig) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("budget", err)
	}
	return newBudget(c.limits()), nil
}

func newBudget(l *limits) *Budget {
	b := &Budget{burst: l.burst}
	b.limits.Store(l)
	b.turn.Store(unused)
	return b
}

// Deposit credits the budget with one call that begins at now. A [Policy] does
// it for its calls.
func (b *Budget) Deposit(now backstay.Instant) {
	if b == nil {
		return
	}
	if int64(now) >= b.turn.Load() {
		b.mu.Lock()
		b.rotate(now)
		b.mu.Unlock()
	}
	b.add(b.limits.Load().deposit)
}

// add puts thousandths into the current slot. It saturates.
func (b *Budget) add(amount uint32) {
	if b.earned.Load() < full {
		b.earned.Add(amount)
	}
}

// TrySpend takes one token and reports whether there was one. It is to be
// asked last, when nothing else stands against the retry.
func (b *Budget) TrySpend() bool {
	return b == nil || b.TrySpendAt(backstay.Now())
}

// TrySpendAt is [Budget.TrySpend] at now, for callers that have read the clock
// already, and for simulations, which have one of their own.
func (b *Budget) TrySpendAt(now backstay.Instant) bool {
	if b == nil || b.limits.Load().off {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rotate(now)
	if b.sum() < token {
		return false
	}
	b.take(token)
	return true
}

// take removes an amount that is there: what expires first goes first, and the
// burst, which does not expire, goes last. Concurrent deposits can only add.
func (b *Budget) take(amount uint32) {
	for i := range b.older {
		part := min(amount, b.older[i])
		b.older[i] -= part
		amount -= part
	}
	part := min(amount, b.earned.Load())
	b.earned.Add(-part)
	b.burst -= amount - part
}

// Refund gives back a token that was spent on something that was not done
// after all.
func (b *Budget) Refund() {
	if b == nil || b.limits.Load().off {
		return
	}
	b.add(token)
}

// Available returns how many tokens can be spent now, +Inf if the budget is
// off or nil.
func (b *Budget) Available() float64 {
	if b == nil {
		return math.Inf(1)
	}
	return b.available(backstay.Now())
}

func (b *Budget) available(now backstay.Instant) float64 {
	if b.limits.Load().off {
		return math.Inf(1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rotate(now)
	return float64(b.sum()) / token
}

// Reload puts another configuration in force, or returns its faults and
// changes nothing. Tokens that are there stay, those of the burst as far as
// the new one holds them; a larger burst fills up at its usual pace.
func (b *Budget) Reload(c BudgetConfig) error {
	if err := c.Validate(); err != nil {
		return backstay.Under("budget", err)
	}
	if b == nil {
		return nil // no budget: nothing to set anew
	}
	b.reload(backstay.Now(), c.limits())
	return nil
}

func (b *Budget) reload(now backstay.Instant, l *limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rotate(now)
	b.limits.Store(l)
	b.burst = min(b.burst, l.burst)
	b.turn.Store(int64(now.Add(l.slot)))
}

// sum is what there is, in thousandths. The caller holds mu.
func (b *Budget) sum() uint64 {
	s := uint64(b.burst) + uint64(b.earned.Load())
	for _, left := range b.older {
		s += uint64(left)
	}
	return s
}

// rotate begins the slot of now if the current one is over: what is older than
// the window expires, and the burst grows. The first slot begins with the first
// use. The caller holds mu.
func (b *Budget) rotate(now backstay.Instant) {
	turn := b.turn.Load()
	if int64(now) < turn {
		return
	}
	l := b.limits.Load()
	if turn == unused {
		b.turn.Store(int64(now.Add(l.slot)))
		return
	}
	passed := (int64(now)-turn)/int64(l.slot) + 1
	for range min(passed, slots) {
		copy(b.older[:], b.older[1:])
		b.older[len(b.older)-1] = b.earned.Swap(0)
	}
	grown := int64(b.burst) + refill*min(passed, int64(l.burst))
	b.burst = uint32(min(grown, int64(l.burst)))
	b.turn.Store(turn + passed*int64(l.slot))
}
