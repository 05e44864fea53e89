package retry

import (
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/backstay-go/backstay"
)

// ledger is the Budget as one would explain it: a list of what was earned, each
// with its age in slots, and a burst. Amounts are thousandths of a token.
type ledger struct {
	ratio, burst, most int
	slot               time.Duration
	turn               backstay.Instant
	earned             []entry
}

type entry struct{ age, amount int }

func (l *ledger) configure(now backstay.Instant, ratio float64, window time.Duration, burst int) {
	l.ratio, l.slot, l.most = int(ratio*1000+0.5), window/5, max(burst, 0)*1000
	l.burst, l.turn = min(l.burst, l.most), now.Add(l.slot)
}

// at lets time pass, slot by slot.
func (l *ledger) at(now backstay.Instant) {
	for ; l.turn <= now; l.turn = l.turn.Add(l.slot) {
		var left []entry
		for _, e := range l.earned {
			e.age++
			if e.age < 5 {
				left = append(left, e)
			}
		}
		l.earned = left
		l.burst = min(l.burst+200, l.most)
	}
}

func (l *ledger) sum() int {
	sum := l.burst
	for _, e := range l.earned {
		sum += e.amount
	}
	return sum
}

func (l *ledger) earn(amount int) { l.earned = append(l.earned, entry{amount: amount}) }

func (l *ledger) spend() bool {
	if l.sum() < 1000 {
		return false
	}
	due := 1000
	for i := range l.earned { // which is in the order of age
		part := min(due, l.earned[i].amount)
		l.earned[i].amount -= part
		due -= part
	}
	l.burst -= due
	return true
}

func TestABudgetKeepsItsBooksLikeALedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := backstay.Instant(rapid.Int64Range(-1e18, 1e18).Draw(t, "start"))
		window := rapid.SampledFrom([]time.Duration{time.Millisecond, 7 * time.Millisecond, 999_999_999})
		ratio := rapid.SampledFrom([]float64{0.001, 0.1, 0.29, 0.333, 1})
		burst := rapid.SampledFrom([]int{NoBurst, 1, 3, 10})
		draw := func() BudgetConfig {
			return BudgetConfig{
				Ratio: ratio.Draw(t, "ratio"), Window: window.Draw(t, "window"), Burst: burst.Draw(t, "burst"),
			}
		}
		c := draw()
		b := newBudget(c.limits())
		model := ledger{burst: max(c.Burst, 0) * 1000}
		model.configure(now, c.Ratio, c.Window, c.Burst)
		b.available(now) // begins the first slot

		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(1, int64(model.slot)*7).Draw(t, "for")))
			},
			"calls begin": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "calls") {
					model.at(now)
					model.earn(model.ratio)
					b.Deposit(now)
				}
			},
			"a retry is asked for": func(t *rapid.T) {
				model.at(now)
				if got, want := b.TrySpendAt(now), model.spend(); got != want {
					t.Fatalf("granted: %v, want %v", got, want)
				}
			},
			"a retry is given back": func(*rapid.T) {
				// Deposit and TrySpend have let the time pass before.
				model.at(now)
				b.available(now)
				model.earn(1000)
				b.Refund()
			},
			"the budget is reloaded": func(*rapid.T) {
				model.at(now)
				c := draw()
				model.configure(now, c.Ratio, c.Window, c.Burst)
				b.reload(now, c.limits())
			},
			"": func(t *rapid.T) {
				if rapid.Bool().Draw(t, "nobody looks") {
					return // so that time also passes unseen
				}
				model.at(now)
				if got, want := b.available(now), float64(model.sum())/1000; got != want {
					t.Fatalf("%v tokens, want %v", got, want)
				}
			},
		})
	})
}

func TestARatioIsCountedInThousandths(t *testing.T) {
	for ratio, want := range map[float64]uint32{
		0.001: 1, 0.0019: 1, 0.1: 100, 0.29: 290, 1.0 / 3: 333, 2.0 / 3: 666, 0.999: 999, 1: 1000,
	} {
		if got := (BudgetConfig{Ratio: ratio}).limits().deposit; got != want {
			t.Errorf("%v earns %d, want %d", ratio, got, want)
		}
	}
}

func TestAFullSlotStopsCountingAndDoesNotOverflow(t *testing.T) {
	b := newBudget(BudgetConfig{Ratio: 1, Burst: NoBurst}.limits())
	b.Deposit(1)
	b.earned.Store(full - 1)
	for range 3 {
		b.Deposit(1)
		b.Refund()
	}
	if got := b.earned.Load(); got != full-1+token {
		t.Errorf("counts %d, want %d", got, uint32(full-1+token))
	}
}

func TestALongIdleTimeIsNoLongLoop(t *testing.T) {
	b := newBudget(BudgetConfig{Window: time.Millisecond, Burst: maxBurst}.limits())
	for range 10 {
		b.TrySpendAt(1)
	}
	b.Deposit(1)
	far := backstay.Instant(1 << 61)
	if got := b.available(far); got != maxBurst {
		t.Errorf("%v tokens, want the full burst", got)
	}
}

// A registry holds one policy and one budget for each of 10,000 keys.
func TestAPolicyIsSmall(t *testing.T) {
	if got := unsafe.Sizeof(Policy{}); got > 24 {
		t.Errorf("a Policy takes %d bytes", got)
	}
	if got := unsafe.Sizeof(Budget{}); got > 48 {
		t.Errorf("a Budget takes %d bytes", got)
	}
}
