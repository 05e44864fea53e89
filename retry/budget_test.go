package retry_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// outage makes calls from workers while the backend is down, and returns how
// many attempts reached it and how long that took.
func outage(t *testing.T, p *retry.Policy, calls, workers int) (attempts int, took time.Duration) {
	t.Helper()
	began := time.Now()
	var made, left atomic.Int64
	left.Store(int64(calls))
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				_, err := retry.Do(t.Context(), p, func(context.Context) (int, error) {
					made.Add(1)
					time.Sleep(time.Millisecond)
					return 0, errDown
				})
				if !errors.Is(err, errDown) {
					t.Errorf("the backend's error is lost: %v", err)
				}
			}
		})
	}
	all.Wait()
	return int(made.Load()), time.Since(began)
}

// Acceptance case C21.
func TestC21_AnOutageCostsATenthMoreWhoeverCalls(t *testing.T) {
	const calls, burst = 10_000, 3
	for _, workers := range []int{1, 5, 50} {
		synctest.Test(t, func(t *testing.T) {
			p := policy(t, retry.Config{})
			attempts, took := outage(t, p, calls, workers)
			grown := int(took / retry.DefaultWindow)
			if most := calls*11/10 + burst + grown; attempts > most {
				t.Errorf("%d workers made %d attempts in %v, at most %d are allowed", workers, attempts, took, most)
			}
			// Nor does the budget refuse what the calls have earned.
			if least := calls * 108 / 100; attempts < least {
				t.Errorf("%d workers made %d attempts in %v, at least %d are allowed", workers, attempts, took, least)
			}
		})
	}
}

// Acceptance case C21.
func TestC21_WithoutWaitsTheBurstIsAllThereIsOnTop(t *testing.T) {
	const calls, burst = 10_000, 3
	for _, workers := range []int{1, 5, 50} {
		p := policy(t, retry.Config{Base: retry.NoWait, Budget: retry.BudgetConfig{Window: time.Hour}})
		var made atomic.Int64
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for range calls / workers {
					_, _ = retry.Do(t.Context(), p, func(context.Context) (int, error) {
						made.Add(1)
						return 0, errDown
					})
				}
			})
		}
		all.Wait()
		// The last calls may leave less than a token behind, for each worker.
		if got, most := made.Load(), int64(calls*11/10+burst); got > most || got < most-1 {
			t.Errorf("%d workers made %d attempts, want %d", workers, got, most)
		}
	}
}

// Acceptance case C22.
func TestC22_ADrainedBudgetFillsUpWithSuccesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, retry.Config{Base: retry.NoWait})
		for p.Budget().TrySpend() {
		}
		calls := 0
		_, _ = retry.Do(t.Context(), p, always(errDown, &calls))
		if calls != 1 {
			t.Fatalf("%d attempts without a token", calls)
		}
		for range 9 {
			_, _ = retry.Do(t.Context(), p, failing())
		}
		calls = 0
		_, _ = retry.Do(t.Context(), p, always(errDown, &calls))
		if calls != 2 {
			t.Errorf("%d attempts after ten successes, want one retry", calls)
		}
	})
}

// Acceptance case C22.
func TestC22_OnlyRetriesSpend(t *testing.T) {
	deadline := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, time.Millisecond)
	}
	nested := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return retry.Suppress(ctx), func() {}
	}
	same := func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
	tests := map[string]struct {
		ctx func(context.Context) (context.Context, context.CancelFunc)
		err error
	}{
		"a mistake of the caller's":    {same, backstay.PermanentError(errDown)},
		"a fault":                      {same, backstay.Mark(errDown, backstay.Outcome{Class: backstay.Fault})},
		"a failure that is final":      {same, backstay.Mark(errDown, backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}})},
		"a rejection":                  {same, backstay.ErrRejected},
		"a caller that left":           {same, context.Canceled},
		"a wait longer than allowed":   {same, backstay.RetryAfter(errDown, time.Hour)},
		"a wait that does not fit":     {deadline, errDown},
		"a call within a retried call": {nested, errDown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := policy(t, retry.Config{})
				ctx, cancel := test.ctx(t.Context())
				defer cancel()
				if _, err := retry.Do(ctx, p, failing(test.err)); err == nil {
					t.Fatal("was retried")
				}
				if got := p.Budget().Available(); got != 3.1 {
					t.Errorf("%v tokens are left, want 3.1", got)
				}
			})
		})
	}
}

// Acceptance case C22.
func TestC22_ACallThatIsCancelledInItsWaitGivesItsTokenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, retry.Config{})
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := retry.Do(ctx, p, failing(backstay.RetryAfter(errDown, 20*time.Second)))
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if got := p.Budget().Available(); got < 3 {
			t.Errorf("%v tokens are left", got)
		}
	})
}

func TestARequestThatCannotBeForkedGivesItsTokenBack(t *testing.T) {
	p := policy(t, retry.Config{Base: retry.NoWait, Budget: retry.BudgetConfig{Window: time.Hour}})
	x := &protocol{fork: errors.New("no body")}
	_, err := retry.Run(t.Context(), p, x, 1, func(context.Context, int) (*answer, error) { return nil, errDown })
	if err == nil {
		t.Fatal("no error")
	}
	if got := p.Budget().Available(); got != 3.1 {
		t.Errorf("%v tokens are left, want 3.1", got)
	}
}

// Acceptance case C22.
func TestC22_AReloadedBudgetTakesEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := budget(t, retry.BudgetConfig{Ratio: 0.001, Burst: retry.NoBurst})
		p := policy(t, retry.Config{Base: retry.NoWait}, retry.WithBudget(shared))
		attempts := func() (calls int) {
			_, _ = retry.Do(t.Context(), p, always(errDown, &calls))
			return calls
		}
		if got := attempts(); got != 1 {
			t.Fatalf("%d attempts from an empty budget", got)
		}
		if err := shared.Reload(retry.BudgetConfig{Ratio: 2}); err == nil {
			t.Error("an invalid configuration was accepted")
		}
		if err := shared.Reload(retry.BudgetConfig{Ratio: 1, Burst: retry.NoBurst}); err != nil {
			t.Fatal(err)
		}
		if got := attempts(); got != 2 {
			t.Errorf("%d attempts with a token for every call", got)
		}
		if err := shared.Reload(retry.NoBudget); err != nil {
			t.Fatal(err)
		}
		if got := attempts(); got != 3 {
			t.Errorf("%d attempts without a budget", got)
		}
	})
}

func TestAReloadKeepsTheTokensThatAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, retry.BudgetConfig{Burst: 5})
		for range 20 {
			b.Deposit(backstay.Now())
		}
		steps := []struct {
			config retry.BudgetConfig
			want   float64
		}{
			{retry.BudgetConfig{Burst: 9}, 7}, // a larger burst fills up in its time
			{retry.BudgetConfig{Burst: 2}, 4}, // a smaller one holds less
			{retry.BudgetConfig{Burst: retry.NoBurst}, 2},
		}
		for _, step := range steps {
			if err := b.Reload(step.config); err != nil {
				t.Fatal(err)
			}
			if got := b.Available(); got != step.want {
				t.Errorf("after %+v there are %v tokens, want %v", step.config, got, step.want)
			}
		}
	})
}

func TestWhatIsNotSpentWithinTheWindowExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, retry.BudgetConfig{Burst: retry.NoBurst})
		for range 50 {
			b.Deposit(backstay.Now())
		}
		time.Sleep(7 * time.Second)
		if got := b.Available(); got != 5 {
			t.Errorf("%v tokens after 7 s, want 5", got)
		}
		time.Sleep(4 * time.Second)
		if got := b.Available(); got != 0 {
			t.Errorf("%v tokens after 11 s, want none", got)
		}
	})
}

func TestTheBurstGrowsBackByOneAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, retry.BudgetConfig{})
		for range 3 {
			if !b.TrySpend() {
				t.Fatal("the burst is not full")
			}
		}
		if b.TrySpend() {
			t.Fatal("the burst has no end")
		}
		for _, want := range []float64{1, 2, 3, 3} {
			time.Sleep(10 * time.Second)
			if got := b.Available(); got != want {
				t.Errorf("%v tokens, want %v", got, want)
			}
		}
	})
}

func TestABudgetThatIsOffOrNilRefusesNothing(t *testing.T) {
	for name, b := range map[string]*retry.Budget{"off": budget(t, retry.NoBudget), "nil": nil} {
		t.Run(name, func(t *testing.T) {
			var spender interface{ TrySpend() bool } = b
			for range 100 {
				if !spender.TrySpend() {
					t.Fatal("refused")
				}
			}
			b.Deposit(backstay.Now())
			b.Refund()
			if got := b.Available(); !math.IsInf(got, 1) {
				t.Errorf("%v tokens", got)
			}
		})
	}
}

func TestABudgetThatWasOffIsGivenNothingBack(t *testing.T) {
	b := budget(t, retry.NoBudget)
	b.TrySpend()
	b.Refund()
	if err := b.Reload(retry.BudgetConfig{Burst: retry.NoBurst}); err != nil {
		t.Fatal(err)
	}
	if got := b.Available(); got != 0 {
		t.Errorf("%v tokens", got)
	}
}

func TestAlmostATokenIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, retry.BudgetConfig{Ratio: 0.333, Burst: retry.NoBurst})
		for range 3 {
			b.Deposit(backstay.Now())
		}
		if b.TrySpend() {
			t.Error("0.999 tokens were spent as one")
		}
		b.Deposit(backstay.Now())
		if !b.TrySpend() {
			t.Error("1.332 tokens are no token")
		}
	})
}

func TestPoliciesMayShareABudget(t *testing.T) {
	shared := budget(t, retry.BudgetConfig{Window: time.Hour})
	a := policy(t, retry.Config{Base: retry.NoWait}, retry.WithBudget(shared))
	b := policy(t, retry.Config{Base: retry.NoWait}, retry.WithBudget(shared)).Clone(nil)
	if a.Budget() != shared || b.Budget() != shared {
		t.Fatal("the budget is not shared")
	}
	calls := 0
	for range 2 {
		_, _ = retry.Do(t.Context(), a, always(errDown, &calls))
		_, _ = retry.Do(t.Context(), b, always(errDown, &calls))
	}
	if calls != 4+3 {
		t.Errorf("%d attempts, want 4 and the burst of 3", calls)
	}
}

// Whatever the goroutines do, what was granted was earned.
func TestABudgetConservesTokensUnderContention(t *testing.T) {
	b := budget(t, retry.BudgetConfig{Window: 5 * time.Millisecond, Burst: retry.NoBurst})
	const workers, each = 8, 5_000
	var granted, refunded atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range each {
				b.Deposit(backstay.Now())
				if b.TrySpend() {
					granted.Add(1)
					if i%7 == 0 {
						b.Refund()
						refunded.Add(1)
					}
				}
				if i%100 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	all.Wait()
	spent := granted.Load() - refunded.Load()
	if most := int64(workers * each / 10); spent > most || spent < most/2 {
		t.Errorf("%d tokens were spent of %d", spent, most)
	}
}
