package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// Clients contend for one row: each reads its version, and writes where the
// version is still the same. Of those that read the same version one wins, and
// the others come back after a wait. The fewer meet, the sooner all are done.

const (
	contentionBase = 5 * time.Millisecond
	contentionCap  = 2 * time.Second
	hop            = 10 * time.Millisecond // one way over the network, on average
	contentionRuns = 12                    // what is drawn is the mean of so many
)

var crowds = []int{10, 25, 50, 75, 100, 125, 150, 175, 200}

// spread is a way to choose a wait: of retry n, after the wait that was kept
// before it.
type spread struct {
	name string
	wait func(p *retry.Policy, lot *rand.Rand, n int, last time.Duration) time.Duration
}

// spreads are the ways that are compared. Full jitter is the policy's own; the
// bound of all of them is its longest wait.
var spreads = []spread{
	{"none", func(p *retry.Policy, _ *rand.Rand, n int, _ time.Duration) time.Duration {
		return p.Backoff(n, math.MaxUint64)
	}},
	{"full", func(p *retry.Policy, lot *rand.Rand, n int, _ time.Duration) time.Duration {
		return p.Backoff(n, lot.Uint64())
	}},
	{"decorrelated", func(p *retry.Policy, lot *rand.Rand, _ int, last time.Duration) time.Duration {
		c := p.Config()
		return min(c.Cap, c.Base+time.Duration(lot.Int64N(int64(max(3*last-c.Base, 1)))))
	}},
	{"equal", func(p *retry.Policy, lot *rand.Rand, n int, _ time.Duration) time.Duration {
		half := p.Backoff(n, math.MaxUint64) / 2
		return half + time.Duration(lot.Int64N(int64(half)+1))
	}},
}

// contest is what one crowd did with one spread.
type contest struct {
	calls float64       // reads and writes, over all clients
	done  time.Duration // when the last client had won
}

// jitterStudy is the contests of each spread, by crowd.
type jitterStudy map[string][]contest

func studyJitter(seed uint64) (jitterStudy, error) {
	policy, err := retry.New(retry.Config{Base: contentionBase, Cap: contentionCap, Budget: retry.NoBudget})
	if err != nil {
		return nil, err
	}
	study := make(jitterStudy)
	for _, s := range spreads {
		for _, n := range crowds {
			var mean contest
			for r := range contentionRuns {
				c := contend(policy, s, n, rand.New(rand.NewPCG(seed, uint64(r))))
				mean.calls += c.calls / contentionRuns
				mean.done += c.done / contentionRuns
			}
			study[s.name] = append(study[s.name], mean)
		}
	}
	return study, nil
}

// row is what the clients contend for.
type row struct {
	engine  engine
	policy  *retry.Policy
	spread  spread
	lot     *rand.Rand
	version int
	contest contest
}

func contend(p *retry.Policy, s spread, clients int, lot *rand.Rand) contest {
	r := &row{policy: p, spread: s, lot: lot}
	for range clients {
		r.attempt(1, p.Config().Base)
	}
	r.engine.run(forever)
	return r.contest
}

// attempt makes attempt n of a client whose last wait is given: to the row and
// back for the version, and once more for the write.
func (r *row) attempt(n int, last time.Duration) {
	r.contest.calls += 2
	r.engine.after(r.hop(), func() {
		seen := r.version
		r.engine.after(r.hop()+r.hop(), func() {
			won := r.version == seen
			if won {
				r.version++
			}
			r.engine.after(r.hop(), func() { r.judged(n, last, won) })
		})
	})
}

// judged is where the client learns what its write came to; whether and when
// it tries again is the policy's decision.
func (r *row) judged(n int, last time.Duration, won bool) {
	if won {
		r.contest.done = r.engine.now
		return
	}
	d := r.policy.Next(retry.State{
		Attempt: n, MaxAttempts: math.MaxInt, Outcome: backstay.Outcome{Class: backstay.Transient},
		Backoff: r.spread.wait(r.policy, r.lot, n, last),
	})
	if d.Retry {
		r.engine.after(d.Wait, func() { r.attempt(n+1, d.Wait) })
	}
}

// hop is one way over the network.
func (r *row) hop() time.Duration {
	return time.Duration(math.Abs(1+r.lot.NormFloat64()/5) * float64(hop))
}
