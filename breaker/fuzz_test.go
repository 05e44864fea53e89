package breaker_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

// fuzzed are the configurations that FuzzBreakerDoesAsTheModel picks from.
var fuzzed = []breaker.Config{
	{},
	{Window: 4, MinCalls: 2, Probes: 3, OpenFor: time.Second, MaxOpenFor: 3 * time.Second, ProbeLease: 2 * time.Second},
	{Consecutive: 2, FailureRatio: breaker.NoFailureRatio, OpenFor: time.Second, Probes: 2},
	{Consecutive: 25, OpenFor: time.Second},
	{Window: 70, MinCalls: 3, FailureRatio: 0.3, OpenFor: time.Second},
	{TimeWindow: 4 * time.Second, Buckets: 4, MinCalls: 3, OpenFor: time.Second},
	{SlowAfter: time.Second, SlowRatio: 0.5, MinCalls: 4, OpenFor: time.Second, Probes: 2},
	{SlowAfter: time.Second, Window: 5, MinCalls: 5, OpenFor: time.Second, FailureRatio: 0.6},
	{TimeWindow: 3 * time.Second, Buckets: 3, SlowAfter: time.Second, SlowRatio: 0.4, MinCalls: 4, OpenFor: time.Second},
}

// FuzzBreakerDoesAsTheModel plays the same calls, ends, waits and manual
// changes to a breaker and to a model, in virtual time. The first byte picks
// the configuration, each following one is an operation.
func FuzzBreakerDoesAsTheModel(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20 * len(fuzzed) {
		ops := make([]byte, 300)
		for j := range ops {
			ops[j] = byte(random.Uint32())
			if i%4 > 0 && ops[j]>>4 > 13 { // mostly without an operator
				ops[j] &= 0x7f
			}
		}
		ops[0] = byte(i)
		f.Add(ops)
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) == 0 || len(ops) > 2000 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			c := fuzzed[int(ops[0])%len(fuzzed)]
			b, l := newBreaker(t, c)
			g := &game{t: t, b: b, log: l, m: newModel(c)}
			// Buckets are numbered by the clock: begin where the model does.
			time.Sleep(time.Minute - time.Duration(backstay.Now())%time.Minute)
			g.start = backstay.Now()
			for _, op := range ops[1:] {
				g.play(op)
				if t.Failed() {
					return
				}
			}
		})
	})
}

// game is one breaker beside its model.
type game struct {
	t     *testing.T
	b     *breaker.Breaker
	log   *log
	m     *model
	start backstay.Instant
	calls []*modelPass // under way
}

func (g *game) at() time.Duration { return backstay.Now().Sub(g.start) }

// play makes one move: the upper half of op says which, the lower half how.
func (g *game) play(op byte) {
	kind, arg := op>>4, int(op&0x0f)
	switch {
	case kind < 5:
		g.begin()
	case kind < 11:
		g.end(int(kind), arg)
	case kind < 14:
		time.Sleep([]time.Duration{1, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 3 * time.Second, time.Minute}[arg%6])
	default:
		g.force(arg)
	}
	g.compare()
}

func (g *game) begin() {
	if len(g.calls) == 12 {
		return
	}
	want := g.m.allow(g.at())
	pass, err := g.b.Allow(g.t.Context())
	if (err == nil) != (want != nil) {
		g.t.Fatalf("at %v: Allow said %v, the model %+v", g.at(), err, want)
	}
	if err == nil {
		want.pass = pass
		g.calls = append(g.calls, want)
		return
	}
	open, _ := errors.AsType[*breaker.OpenError](err)
	if state := g.m.now(g.at()); open.State != state || state == breaker.Open && open.RetryAfter != g.m.until-g.at() {
		g.t.Fatalf("at %v: %+v, the model says %v until %v", g.at(), open, state, g.m.until)
	}
}

func (g *game) end(which, how int) {
	if len(g.calls) == 0 {
		return
	}
	i := which % len(g.calls)
	p := g.calls[i]
	elapsed := g.at() - p.began
	late := g.m.c.SlowAfter > 0 && elapsed >= g.m.c.SlowAfter
	v := modelCall{slow: late && g.m.c.SlowRatio > 0}
	ctx, o, neutral := g.t.Context(), success, false
	switch {
	case how < 5:
	case how < 6:
		o.Class = backstay.Permanent
	case how < 12:
		o.Class, v.failed = backstay.Fault, true
	case how < 13:
		o, neutral = cancelled, true
	case how < 14:
		o.Class, neutral = backstay.Rejected, true
	default:
		expired, cancel := context.WithDeadline(ctx, time.Time{})
		defer cancel()
		ctx, o, neutral, v.failed = expired, cancelled, !late, true
	}
	g.m.done(p, g.at(), neutral, v)
	p.pass.Done(ctx, o, elapsed)
	if how == 4 && p.probe {
		p.pass.Done(ctx, o, elapsed) // twice, by a careless caller
	}
	g.calls = slices.Delete(g.calls, i, i+1)
}

func (g *game) force(how int) {
	to, do := breaker.Closed, g.b.Reset
	switch how {
	case 0:
		to, do = breaker.ForcedOpen, g.b.ForceOpen
	case 1:
		to, do = breaker.ForcedClosed, g.b.ForceClosed
	case 2:
		to, do = breaker.MetricsOnly, g.b.MetricsOnly
	}
	do()
	if to == breaker.Closed || g.m.state != to {
		g.m.change(to, g.at())
	}
}

func (g *game) compare() {
	at := g.at()
	if got, want := g.b.State(), g.m.now(at); got != want {
		g.t.Fatalf("at %v: state %v, want %v", at, got, want)
	}
	if got := g.log.changes(); !slices.Equal(got, g.m.changes) {
		g.t.Fatalf("at %v: changes %q, want %q", at, got, g.m.changes)
	}
	var want breaker.Counts
	if g.m.state == breaker.Closed || g.m.state == breaker.MetricsOnly {
		want = g.m.counts(at)
	}
	got := g.b.Counts()
	if g.m.c.TimeWindow == 0 && got.Consecutive == g.m.c.Window {
		want.Consecutive = min(want.Consecutive, g.m.c.Window) // a small window counts no further
	}
	if got != want {
		g.t.Fatalf("at %v: counts %+v, want %+v", at, got, want)
	}
}
