package hedge_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

func TestAClosedPolicyCallsButDoesNotHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		closed(t, p)
		got := call(t.Context(), p, copyPlan{after: 50 * ms, reply: reply(good)})
		if got.err != nil || got.sent != 1 {
			t.Errorf("%d copies, %v", got.sent, got.err)
		}
		if left := p.State().Tokens; left != hedge.DefaultBurst {
			t.Errorf("%v tokens are left", left)
		}
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		_, _ = hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 2 {
				time.Sleep(time.Minute) // deaf
			}
			return 0, sleep(ctx, 30*ms)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		closed(t, p)
	})
}

func TestANilPolicyIsAbsent(t *testing.T) {
	var p *hedge.Policy
	if p.Clone(nil) != nil || p.Close(t.Context()) != nil {
		t.Error("a nil policy does something")
	}
	if got, err := hedge.Do(t.Context(), p, func(context.Context) (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestAClonesStateIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		shared := &tokens{}
		shared.left.Store(100)
		p := must(t, hedge.Config{MinSamples: 1, Budget: hedge.BudgetConfig{Ratio: 1e-9, Burst: 1}}, hedge.WithBudget(shared))
		a := p.Clone(seen.scope())
		b := p.Clone(&backstay.Scope{Key: "b.example"}, hedge.WithBudget(nil))
		for _, key := range []*hedge.Policy{a, b} {
			call(t.Context(), key, copyPlan{after: 10 * ms, reply: reply(good)})
			call(t.Context(), key, copyPlan{after: time.Hour}, copyPlan{after: ms, reply: reply(good)})
			closed(t, key)
			if s := key.State(); s.Tokens >= 1 || s.Percentile == 0 {
				t.Errorf("the clone's state is %+v", s)
			}
		}
		if s := p.State(); s.Tokens != 1 || s.Percentile != 0 {
			t.Errorf("the original's state is %+v", s)
		}
		if asked := shared.asked.Load(); asked != 1 {
			t.Errorf("the shared budget was asked %d times, want once, for a", asked)
		}
		if events := seen.of(backstay.HedgeStarted); len(events) != 1 || events[0].Key != "a.example" {
			t.Errorf("told %v", events)
		}
	})
}

func TestACloneHasTheGateOfItsOwnKey(t *testing.T) {
	p := must(t, hedge.Config{}, hedge.WithGate(func() bool { return false }))
	if !p.Clone(nil).State().Suspended {
		t.Error("the gate is not inherited")
	}
	if p.Clone(nil, hedge.WithGate(func() bool { return true })).State().Suspended {
		t.Error("the gate is not replaced")
	}
}

func TestOnlySuccessesAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{MinSamples: 1})
		for _, plan := range []copyPlan{
			{after: 300 * ms, err: errDown},
			{after: 300 * ms, reply: reply(unavailable)},
			{after: 300 * ms, reply: reply(notFound)},
		} {
			call(t.Context(), p, plan)
		}
		if got := p.State().Percentile; got != 0 {
			t.Errorf("a failure is a latency of %v", got)
		}
		call(t.Context(), p, copyPlan{after: 10 * ms, reply: reply(good)})
		if got := p.State().Percentile; got < 9700*time.Microsecond || got > 10300*time.Microsecond {
			t.Errorf("10 ms are measured as %v", got)
		}
	})
}

func TestAnOriginClosesItsClonesAndAClonesCloseIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		a, b := p.Clone(nil), p.Clone(nil)
		_, _ = hedge.Do(t.Context(), a, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 2 {
				time.Sleep(time.Minute) // deaf
			}
			return 0, sleep(ctx, 30*ms)
		})
		if a.Late() != 1 || b.Late() != 0 || p.Late() != 1 {
			t.Errorf("late: %d, %d and %d", a.Late(), b.Late(), p.Late())
		}
		began := time.Now()
		closed(t, b)
		if time.Since(began) != 0 {
			t.Error("a clone waits for the other")
		}
		closed(t, p)
		if took := time.Since(began); took < time.Minute-30*ms {
			t.Errorf("the origin was closed after %v", took)
		}
		if got := call(t.Context(), a, copyPlan{after: 50 * ms, reply: reply(good)}); got.sent != 1 {
			t.Errorf("a clone of a closed policy sent %d copies", got.sent)
		}
	})
	var none *hedge.Policy
	if none.Late() != 0 {
		t.Error("a nil policy")
	}
}
