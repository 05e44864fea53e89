package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

func through(ctx context.Context, r *middleware.Registry, key string, f func(context.Context) (int, error)) (int, error) {
	return middleware.Race(ctx, r.Get(key, backstay.Now()), nil, f)
}

// Acceptance case C35a.
func TestC35a_OneHostInTroubleDoesNotCostTheOthers(t *testing.T) {
	r := registry(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait}, Breaker: &breaker.Config{}}))
	for range 50 {
		_, _ = through(t.Context(), r, "a", fails)
		if _, err := through(t.Context(), r, "b", succeeds); err != nil {
			t.Fatalf("the healthy host: %v", err)
		}
	}
	_, err := through(t.Context(), r, "a", succeeds)
	refused(t, err, breaker.ErrOpen)
	if open, ok := errors.AsType[*breaker.OpenError](err); !ok || open.Name != "test[a]" {
		t.Errorf("the error does not name the host: %v", err)
	}
	a, b := r.Get("a", backstay.Now()).Status(), r.Get("b", backstay.Now()).Status()
	if a.Budget.Available >= b.Budget.Available-2 {
		t.Errorf("budgets: %v and %v", a.Budget.Available, b.Budget.Available)
	}
	if r.Len() != 2 {
		t.Errorf("%d pipelines", r.Len())
	}
}

func TestPipelinesMayShareOneBudget(t *testing.T) {
	shared, err := retry.NewBudget(retry.BudgetConfig{})
	if err != nil {
		t.Fatal(err)
	}
	r := registry(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait}}), middleware.WithRetryBudget(shared))
	other := registry(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait}}), middleware.WithRetryBudget(shared))
	calls, attempts := 0, 0
	for i := range 100 {
		for _, r := range []*middleware.Registry{r, other} {
			calls++
			_, _ = through(t.Context(), r, strconv.Itoa(i), func(context.Context) (int, error) {
				attempts++
				return 0, errDown
			})
		}
	}
	if extra := attempts - calls; extra < 20 || extra > 24 {
		t.Errorf("%d calls over 200 keys made %d retries, want a tenth and the burst of 3", calls, extra)
	}
}

func TestARegistryIsBounded(t *testing.T) {
	seen := new(journal)
	target := middleware.Standard("test")
	target.Keys.Max = 1000
	r := registry(t, target, middleware.WithObserver(seen))
	keys := 100_000
	if testkit.Race {
		keys = 10_000
	}
	for i := range keys {
		r.Get(fmt.Sprintf("host-%d", i), backstay.Now())
	}
	if r.Len() > 1000 {
		t.Errorf("%d keys", r.Len())
	}
	gone := seen.of(backstay.PipelineEvicted)
	if len(gone) != keys-r.Len() || gone[0].Key == "" || gone[0].Policy != "test" {
		t.Errorf("%d keys are gone, %d were told of: %+v", keys-r.Len(), len(gone), gone[0])
	}
}

func TestIdleKeysAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := middleware.Standard("test")
		target.Keys.IdleAfter = time.Minute
		r := registry(t, target)
		for i := range 1000 {
			r.Get(fmt.Sprintf("old-%d", i), backstay.Now())
		}
		time.Sleep(2 * time.Minute)
		for i := range 1000 {
			r.Get(fmt.Sprintf("new-%d", i), backstay.Now())
		}
		if n := r.Len(); n > 1100 {
			t.Errorf("%d keys", n)
		}
	})
}

// What is in use, or knows of trouble, stays, whatever comes in.
func TestWhatMattersIsNeverGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := only(middleware.Config{
			Hedge: &hedge.Config{Delay: 10 * ms}, Breaker: &breaker.Config{Consecutive: 1, OpenFor: time.Hour, MaxOpenFor: time.Hour},
			Bulkhead: &bulkhead.Config{Limit: 2, MaxQueue: 1}, Timeout: &timeout.Config{Abandon: true},
		})
		target.Keys = middleware.Keys{Max: 10, IdleAfter: time.Second}
		r := registry(t, target)
		kept := map[string]func(p *middleware.Pipeline){
			"open":      func(p *middleware.Pipeline) { _, _ = middleware.Do(t.Context(), p, fails) },
			"forced":    func(p *middleware.Pipeline) { p.Breaker().ForceClosed() },
			"in use":    func(p *middleware.Pipeline) { go func() { _, _ = middleware.Do(t.Context(), p, deaf(time.Hour)) }() },
			"abandoned": func(p *middleware.Pipeline) { _, _ = middleware.Race(t.Context(), p, nil, deaf(time.Hour)) },
		}
		pipelines := make(map[string]*middleware.Pipeline)
		for name, spoil := range kept {
			pipelines[name] = r.Get(name, backstay.Now())
			spoil(pipelines[name])
		}
		synctest.Wait()
		for i := range 5000 {
			r.Get(fmt.Sprintf("host-%d", i), backstay.Now())
			time.Sleep(10 * ms)
		}
		for name, p := range pipelines {
			if r.Get(name, backstay.Now()) != p {
				t.Errorf("the pipeline that is %s was given up", name)
			}
		}
		if n := r.Len(); n > 10 {
			t.Errorf("%d keys", n)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // for the call that is in use
	})
}

// A late copy outlives its call. Without a bulkhead nothing else tells of it.
func TestAPipelineWithALateCopyIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := only(middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}})
		target.Keys = middleware.Keys{Max: 1, IdleAfter: time.Second}
		r := registry(t, target)
		p := r.Get("late", backstay.Now())
		_, _ = middleware.Race(t.Context(), p, nil, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 2 {
				time.Sleep(time.Hour)
			}
			return 7, sleep(ctx, 50*ms)
		})
		for i := range 100 {
			time.Sleep(time.Second)
			r.Get(strconv.Itoa(i), backstay.Now())
		}
		if r.Get("late", backstay.Now()) != p {
			t.Error("it was given up")
		}
		_ = r.Close(t.Context())
	})
}

func TestARegistryMayBeUsedByMany(t *testing.T) {
	target := middleware.Standard("test")
	target.Keys.Max = 50
	target.Retry.Base = retry.NoWait
	r := registry(t, target, middleware.WithObserver(new(journal)))
	var wg sync.WaitGroup
	for g := range 20 {
		wg.Go(func() {
			for i := range 200 {
				_, _ = through(t.Context(), r, strconv.Itoa((g*31+i)%100), answers(fails, succeeds))
				if i%50 == 0 {
					_ = r.Statuses()
				}
			}
		})
	}
	wg.Wait()
	for key, p := range r.All {
		if s := p.Status(); s.Key != key || s.Bulkhead.InFlight != 0 {
			t.Errorf("%s: %+v", key, s.Bulkhead)
		}
	}
}
