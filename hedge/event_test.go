package hedge_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

func TestEventsTellHowEachCopyEnded(t *testing.T) {
	type end struct {
		reason  backstay.Reason
		elapsed time.Duration
		class   backstay.Class
	}
	for name, tc := range map[string]struct {
		copies []copyPlan
		leave  time.Duration // when the caller leaves
		ends   []end
	}{
		"an unhedged call is silent": {
			copies: []copyPlan{{after: ms, reply: reply(good)}},
		},
		"the hedge wins": {
			copies: []copyPlan{{after: time.Hour}, {after: 5 * ms, reply: reply(good)}},
			ends: []end{
				{backstay.ReasonHedgeCancelled, 25 * ms, backstay.Canceled},
				{backstay.ReasonHedgeWon, 5 * ms, backstay.Success},
			},
		},
		"the primary wins": {
			copies: []copyPlan{{after: 30 * ms, reply: reply(good)}, {after: time.Hour}},
			ends: []end{
				{backstay.ReasonHedgeWon, 30 * ms, backstay.Success},
				{backstay.ReasonHedgeCancelled, 10 * ms, backstay.Canceled},
			},
		},
		"the hedge fails and the primary wins": {
			copies: []copyPlan{{after: 30 * ms, reply: reply(good)}, {after: ms, reply: reply(unavailable)}},
			ends: []end{
				{backstay.ReasonHedgeWon, 30 * ms, backstay.Success},
				{backstay.ReasonHedgeLost, ms, backstay.Transient},
			},
		},
		"the caller leaves while both run": {
			copies: []copyPlan{{after: time.Hour}, {after: time.Hour}}, leave: 50 * ms,
			ends: []end{
				{backstay.ReasonHedgeCancelled, 50 * ms, backstay.Canceled},
				{backstay.ReasonHedgeCancelled, 30 * ms, backstay.Canceled},
			},
		},
		"the caller leaves after the primary failed": {
			copies: []copyPlan{{after: 30 * ms, err: errDown}, {after: time.Hour}}, leave: 50 * ms,
			ends: []end{
				{backstay.ReasonHedgeCancelled, 30 * ms, backstay.Transient},
				{backstay.ReasonHedgeCancelled, 30 * ms, backstay.Canceled},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(journal)
				p := must(t, hedge.Config{Delay: delay}, hedge.WithScope(seen.scope()))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.leave > 0 {
					time.AfterFunc(tc.leave, cancel)
				}
				call(ctx, p, tc.copies...)
				closed(t, p)
				starts, ends := seen.of(backstay.HedgeStarted), seen.of(backstay.HedgeDone)
				if len(tc.ends) > 0 && (len(starts) != 1 || starts[0].Copy != 2 || starts[0].Wait != delay || starts[0].Key != "a.example") {
					t.Errorf("started: %+v", starts)
				}
				if len(ends) != len(tc.ends) {
					t.Fatalf("done: %+v", ends)
				}
				for i, want := range tc.ends {
					if e := ends[i]; e.Copy != i+1 || (end{e.Reason, e.Elapsed, e.Outcome.Class}) != want {
						t.Errorf("copy %d: %s after %v, %v; want %v", e.Copy, e.Reason, e.Elapsed, e.Outcome.Class, want)
					}
				}
			})
		})
	}
}

// Acceptance case C43a.
func TestC43a_CancelledLosersAreNeitherErrorsNorLatencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		p := must(t, hedge.Config{MinSamples: 100, Budget: hedge.BudgetConfig{Ratio: 1}}, hedge.WithScope(seen.scope()))
		const quick, slow = 10 * ms, 400 * ms
		for range 200 {
			call(t.Context(), p, copyPlan{after: quick, reply: reply(good)})
		}
		delay, ok := p.Plan(p.State())
		if !ok || delay > 11*ms {
			t.Fatalf("a delay of %v, %t", delay, ok)
		}
		for i := range 200 { // every second call is hedged
			first := copyPlan{after: quick, reply: reply(good)}
			if i%2 == 0 {
				first.after = slow
			}
			call(t.Context(), p, first, copyPlan{after: quick / 2, reply: reply(good)})
		}
		closed(t, p)
		reasons := make(map[backstay.Reason]int)
		for _, e := range seen.of(backstay.HedgeDone) {
			reasons[e.Reason]++
			if e.Outcome.Class.Failure() {
				t.Errorf("copy %d counts as a failure: %v", e.Copy, e.Err)
			}
		}
		if reasons[backstay.ReasonHedgeCancelled] != 100 || reasons[backstay.ReasonHedgeWon] != 100 || len(reasons) != 2 {
			t.Errorf("copies ended: %v", reasons)
		}
		// The losers would have taken 400 ms. What counts is what the hedged
		// calls took: the delay, which grows as half of the calls exceed it,
		// and 5 ms.
		if after := p.State().Percentile; after < delay || after > slow/8 {
			t.Errorf("the percentile is now %v", after)
		}
	})
}

func TestHedgedCallsKeepThePercentileWhereItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Budget: hedge.BudgetConfig{Ratio: 1, Burst: 100}})
		took := func(i int) time.Duration { // from 10 ms to 500 ms, evenly
			return time.Duration(10+10*(i*7%50)) * ms
		}
		hedged := 0
		for i := range 4_000 {
			got := call(t.Context(), p, copyPlan{after: took(i), reply: reply(good)}, copyPlan{after: 5 * ms, reply: reply(good)})
			hedged += got.sent - 1
		}
		closed(t, p)
		if got := p.State().Percentile; got < 460*ms || got > 500*ms {
			t.Errorf("the percentile drifted to %v", got)
		}
		if hedged > 4_000*10/100 {
			t.Errorf("%d of 4000 calls were hedged at p95", hedged)
		}
	})
}
