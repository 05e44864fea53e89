package hedge_test

import (
	"context"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestACallThatIsNotHedgedAllocatesItsClosureAndNoMore(t *testing.T) {
	ctx := t.Context()
	shut := func() bool { return false }
	for name, p := range map[string]*hedge.Policy{
		"gate":    must(t, hedge.Config{Delay: time.Minute}, hedge.WithGate(shut)),
		"samples": must(t, hedge.Config{MinSamples: 1_000_000}),
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			testkit.Allocs(t, 1, func() {
				_, _ = hedge.Do(ctx, p, func(context.Context) (int, error) { n++; return n, nil })
			})
			testkit.Allocs(t, 1, func() {
				_, _ = hedge.Run(ctx, p, backstay.Plain[int]{}, struct{}{}, func(context.Context, struct{}) (int, error) { n++; return n, nil })
			})
		})
	}
}

func TestAnIdleHedgeAllocatesAStateATimerAndThreeClosures(t *testing.T) {
	ctx := t.Context()
	p := must(t, hedge.Config{Delay: time.Minute})
	n := 0
	testkit.Allocs(t, 5, func() {
		_, _ = hedge.Do(ctx, p, func(context.Context) (int, error) { n++; return n, nil })
	})
}
