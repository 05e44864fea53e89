package hedge

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestAPurseNeverGivesMoreThanWasPaidIn(t *testing.T) {
	tariff := newTariff(BudgetConfig{Ratio: 0.3, Burst: 5})
	var p purse
	p.fill(tariff)
	var taken atomic.Int64
	var wg sync.WaitGroup
	const workers, calls = 8, 2_000
	for range workers {
		wg.Go(func() {
			for range calls {
				p.put(tariff, tariff.deposit)
				if p.take() {
					taken.Add(1)
				}
			}
		})
	}
	wg.Wait()
	most := int64(5 + 0.3*workers*calls)
	if got := taken.Load(); got > most || got < most-5 {
		t.Errorf("%d taken, %d paid for", got, most)
	}
	if held := p.held.Load(); held < 0 || held > tariff.limit {
		t.Errorf("%d held", held)
	}
}

func TestDepositsAreNeverRoundedUp(t *testing.T) {
	for _, ratio := range []float64{1e-9, 0.05, 0.1, 1.0 / 3, 0.7, 1} {
		if d := newTariff(BudgetConfig{Ratio: ratio, Burst: 1}).deposit; float64(d) > ratio*float64(token) || d < 1 {
			t.Errorf("a ratio of %v pays %d", ratio, d)
		}
	}
}

func TestAPurseHoldsNoMoreThanItsBurst(t *testing.T) {
	tariff := newTariff(BudgetConfig{Ratio: 0.3, Burst: 2})
	var p purse
	p.fill(tariff)
	if !p.take() {
		t.Fatal("a full purse is empty")
	}
	for range 4 { // 1.2 tokens
		p.put(tariff, tariff.deposit)
	}
	if got := p.tokens(); got != 2 {
		t.Errorf("%v tokens are held", got)
	}
}
