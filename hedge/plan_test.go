package hedge_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/hedge"
)

func TestPlan(t *testing.T) {
	const ms = time.Millisecond
	live := hedge.Config{MaxCopies: 2}
	fixed := hedge.Config{Delay: 20 * ms}
	for name, tc := range map[string]struct {
		c    hedge.Config
		s    hedge.State
		want time.Duration // 0: no copy
	}{
		"a live delay is the percentile":           {live, hedge.State{Copies: 1, Percentile: 40 * ms, Tokens: 1}, 40 * ms},
		"a quick backend is not hedged over noise": {live, hedge.State{Copies: 1, Percentile: ms, Tokens: 1}, 5 * ms},
		"too few successes say nothing":            {live, hedge.State{Copies: 1, Tokens: 1}, 0},
		"just below the ceiling is hedged":         {live, hedge.State{Copies: 1, Percentile: time.Second - 1, Tokens: 1}, time.Second - 1},
		"at the ceiling the backend is slow":       {live, hedge.State{Copies: 1, Percentile: time.Second, Tokens: 1}, 0},
		"a third copy is sent where allowed":       {live, hedge.State{Copies: 2, Percentile: 40 * ms, Tokens: 1}, 40 * ms},
		"no more copies than allowed":              {live, hedge.State{Copies: 3, Percentile: 40 * ms, Tokens: 1}, 0},
		"half a token is none":                     {live, hedge.State{Copies: 1, Percentile: 40 * ms, Tokens: 0.5}, 0},
		"the gate comes first":                     {live, hedge.State{Copies: 1, Percentile: 40 * ms, Tokens: 9, Suspended: true}, 0},
		"a fixed delay needs no successes":         {fixed, hedge.State{Copies: 1, Tokens: 1}, 20 * ms},
		"a fixed delay knows no ceiling":           {fixed, hedge.State{Copies: 1, Percentile: time.Minute, Tokens: 1}, 20 * ms},
		"a fixed delay needs a budget":             {fixed, hedge.State{Copies: 1}, 0},
		"a fixed delay obeys the gate":             {fixed, hedge.State{Copies: 1, Tokens: 1, Suspended: true}, 0},
		"one copy is the default":                  {fixed, hedge.State{Copies: 2, Tokens: 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := must(t, tc.c).Plan(tc.s)
			if got != tc.want || ok != (tc.want > 0) {
				t.Errorf("got %v, %t; want %v", got, ok, tc.want)
			}
		})
	}
}

func TestANilPolicyPlansNothing(t *testing.T) {
	var p *hedge.Policy
	if d, ok := p.Plan(p.State()); ok {
		t.Errorf("a copy after %v", d)
	}
}
