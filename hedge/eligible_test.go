package hedge_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
)

// careful is an Exchange that forbids something.
type careful struct {
	testkit.Fake
	hedging error // what Hedge says
	forking error // what Fork says to a later copy
}

func (x *careful) Hedge(string) error { return x.hedging }

func (x *careful) Fork(q string, n int) (string, error) {
	if n > 1 && x.forking != nil {
		return "", x.forking
	}
	return x.Fake.Fork(q, n)
}

func TestWhatIsNotHedged(t *testing.T) {
	no := errors.New("no")
	config := hedge.Config{Delay: delay}
	for name, tc := range map[string]struct {
		p   *hedge.Policy
		x   *careful
		ctx func(context.Context) context.Context
	}{
		"a request its exchange forbids": {must(t, config), &careful{hedging: no}, nil},
		"a call that says never":         {must(t, config), &careful{}, hedge.Never},
		"a marked call that says never": {
			must(t, config), &careful{},
			func(ctx context.Context) context.Context { return hedge.Mark(hedge.Never(ctx)) },
		},
		"a call without a policy":             {nil, &careful{}, nil},
		"a call while the gate is closed":     {must(t, config, hedge.WithGate(func() bool { return false })), &careful{}, nil},
		"a call before there are latencies":   {must(t, hedge.Config{}), &careful{}, nil},
		"a request that cannot be repeated":   {must(t, config), &careful{forking: no}, nil},
		"a call whose shared budget is empty": {must(t, config, hedge.WithBudget(&tokens{})), &careful{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.ctx != nil {
					ctx = tc.ctx(ctx)
				}
				sent := 0
				_, err := hedge.Run(ctx, tc.p, tc.x, "q", func(ctx context.Context, _ string) (*testkit.Reply, error) {
					sent++
					return reply(good), sleep(ctx, time.Second)
				})
				if err != nil || sent != 1 {
					t.Errorf("%d copies, %v", sent, err)
				}
				if tc.p != nil {
					if got := tc.p.State().Tokens; got != hedge.DefaultBurst {
						t.Errorf("%v tokens are left", got)
					}
				}
			})
		})
	}
}

func TestARequestThatCannotBeForkedAtAllIsSentOnce(t *testing.T) {
	p := must(t, hedge.Config{Delay: delay})
	x := forkless{}
	got, err := hedge.Run(t.Context(), p, x, "q", func(_ context.Context, q string) (*testkit.Reply, error) {
		return &testkit.Reply{Name: q}, nil
	})
	if err != nil || got.Name != "q" {
		t.Errorf("got %v, %v", got, err)
	}
}

type forkless struct{ *testkit.Fake }

func (forkless) Fork(string, int) (string, error) { return "", errors.New("no") }

func TestAFailureThatMayNotBeRepeatedHastensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		sent := 0
		_, err := hedge.Run(t.Context(), p, &testkit.Fake{Refuse: errors.New("no")}, "q", func(context.Context, string) (*testkit.Reply, error) {
			sent++
			return nil, errDown
		})
		if sent != 1 || !errors.Is(err, errDown) {
			t.Errorf("%d copies, %v", sent, err)
		}
	})
}

func TestMarks(t *testing.T) {
	ctx := t.Context()
	if hedge.Marked(ctx) || !hedge.Marked(hedge.Mark(ctx)) {
		t.Error("a mark is lost, or made up")
	}
}

func TestTheGateIsAskedAgainBeforeTheCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shut atomic.Bool
		p := must(t, hedge.Config{Delay: delay}, hedge.WithGate(func() bool { return !shut.Load() }))
		sent := 0
		_, _ = hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			shut.Store(true)
			sent++
			return 0, sleep(ctx, time.Second)
		})
		if sent != 1 {
			t.Errorf("%d copies", sent)
		}
	})
}

func TestACopyThatComesTooLateIsNotSentAndCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		slow := func() bool {
			if asked.Add(1) > 1 {
				time.Sleep(10 * ms) // the first copy answers meanwhile
			}
			return true
		}
		p := must(t, hedge.Config{Delay: delay}, hedge.WithGate(slow))
		got := call(t.Context(), p, copyPlan{after: 25 * ms, reply: reply(good)})
		time.Sleep(time.Second)
		if left := p.State().Tokens; got.sent != 1 || left != hedge.DefaultBurst {
			t.Errorf("%d copies, %v tokens are left", got.sent, left)
		}
		closed(t, p)
	})
}
