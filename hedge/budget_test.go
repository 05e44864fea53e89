package hedge_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

// tokens is a shared budget.
type tokens struct{ left, asked atomic.Int64 }

func (b *tokens) TrySpend() bool {
	b.asked.Add(1)
	return b.left.Add(-1) >= 0
}

// Acceptance case C38.
func TestC38_CopiesStayWithinTheBudgetForOneWorkerAndForFifty(t *testing.T) {
	const calls = 1_000
	for _, workers := range []int{1, 50} {
		synctest.Test(t, func(t *testing.T) {
			p := must(t, hedge.Config{Delay: delay, Budget: hedge.BudgetConfig{Ratio: 0.05, Burst: 4}})
			var made, copies atomic.Int64
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range calls / workers {
						made.Add(1)
						_, _ = hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
							if hedge.Copy(ctx) > 1 && copies.Add(1) > 4+made.Load()/20 {
								t.Errorf("%d copies after %d calls", copies.Load(), made.Load())
							}
							return 0, sleep(ctx, 100*time.Millisecond)
						})
					}
				})
			}
			wg.Wait()
			closed(t, p)
			if got := copies.Load(); got < calls/20-4 || got > calls/20+4 {
				t.Errorf("%d workers: %d copies in %d calls", workers, got, calls)
			}
		})
	}
}

// Acceptance case C39.
func TestC39_CopiesInFlightFinishWhenTheBudgetRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay, Budget: hedge.BudgetConfig{Ratio: 1e-9, Burst: 1}})
		var wg sync.WaitGroup
		var won [3]int // by copy, over both calls
		var mu sync.Mutex
		for range 2 {
			wg.Go(func() {
				n, err := hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
					n := hedge.Copy(ctx)
					if n == 2 && p.State().Tokens >= 1 {
						t.Error("the copy was not the last")
					}
					return n, sleep(ctx, time.Duration(100-30*(n-1))*time.Millisecond)
				})
				mu.Lock()
				defer mu.Unlock()
				if won[n]++; err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		closed(t, p)
		if won[1] != 1 || won[2] != 1 {
			t.Errorf("first copies won %d times, second %d times", won[1], won[2])
		}
	})
}

func TestTheSharedBudgetIsSpentInAddition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &tokens{}
		shared.left.Store(2)
		p := must(t, hedge.Config{Delay: delay, Budget: hedge.BudgetConfig{Ratio: 1e-9, Burst: 3}}, hedge.WithBudget(shared))
		slow := copyPlan{after: 50 * ms, reply: reply(good)}
		for range 4 {
			call(t.Context(), p, slow, slow)
		}
		closed(t, p)
		if own := p.State().Tokens; own < 1 || own > 1.001 {
			t.Errorf("%v own tokens are left, want 3 less 2", own)
		}
		if asked := shared.asked.Load(); asked != 4 {
			t.Errorf("the shared budget was asked %d times", asked)
		}
	})
}

func TestAnEmptyOwnBudgetLeavesTheSharedOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &tokens{}
		shared.left.Store(9)
		p := must(t, hedge.Config{Delay: delay, Budget: hedge.BudgetConfig{Ratio: 1e-9, Burst: 1}}, hedge.WithBudget(shared))
		slow := copyPlan{after: 50 * ms, reply: reply(good)}
		for range 4 {
			call(t.Context(), p, slow, slow)
		}
		closed(t, p)
		if left := shared.left.Load(); left != 8 {
			t.Errorf("%d shared tokens are left", left)
		}
	})
}

func TestACopyThatWasRefusedBeforeSendingCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay, Budget: hedge.BudgetConfig{Ratio: 1e-9, Burst: 2}})
		call(t.Context(), p, copyPlan{after: 50 * ms, reply: reply(good)}, copyPlan{reply: reply(refused)})
		if got := p.State().Tokens; got != 2 {
			t.Errorf("%v tokens are left", got)
		}
	})
}

// returning is a shared budget that takes back what was not used.
type returning struct {
	tokens
	returned atomic.Int64
}

func (b *returning) Refund() { b.returned.Add(1) }

func TestACopyThatWasRejectedIsGivenBackToTheSharedBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := new(returning)
		shared.left.Store(10)
		p := must(t, hedge.Config{Delay: delay}, hedge.WithBudget(shared))
		_, err := hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) > 1 {
				return 0, backstay.ErrRejected
			}
			return 0, sleep(ctx, 10*delay)
		})
		closed(t, p)
		if err != nil || shared.asked.Load() != 1 || shared.returned.Load() != 1 {
			t.Errorf("error %v, asked %d times, given back %d times", err, shared.asked.Load(), shared.returned.Load())
		}
	})
}
