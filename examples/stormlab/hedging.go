package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/backstay-go/backstay/hedge"
)

// Calls go to one of many replicas, each of which serves one at a time. Once in
// a while a replica pauses. A copy of a slow call goes to another replica. It
// is more load, and so longer queues for everybody.

const (
	replicas     = 40
	serviceTime  = 10 * time.Millisecond  // on average, exponential
	pauseTime    = 200 * time.Millisecond // instead, once in pauseEvery
	pauseEvery   = 500
	utilisation  = 0.4
	hedgedCalls  = 40_000
	warmUp       = 2_000 // calls that are not counted
	percentileOf = 2_000 // recent successes that the live percentile looks at
)

// aim is a setting of hedging.
type aim struct {
	name   string
	config hedge.Config
}

// free is a budget that lets every call have a copy.
var free = hedge.BudgetConfig{Ratio: 1, Burst: 10_000}

// aims are the settings that are compared. The first is without hedging.
var aims = []aim{
	{name: "no copies"},
	{"p99", hedge.Config{Percentile: 0.99, Budget: free}},
	{"p95", hedge.Config{Percentile: 0.95, Budget: free}},
	{"p90", hedge.Config{Percentile: 0.90, Budget: free}},
	{"p75", hedge.Config{Percentile: 0.75, Budget: free}},
	{"p50", hedge.Config{Percentile: 0.50, Budget: free}},
	{"5ms", hedge.Config{Delay: 5 * time.Millisecond, Budget: free}},
	{"at once", hedge.Config{Delay: 1, Budget: free}},
	{"p99, budget", hedge.Config{Percentile: 0.99}},
	{"p95, budget", hedge.Config{}},
	{"p50, budget", hedge.Config{Percentile: 0.50}},
	{"p95, budget, burst of 100", hedge.Config{Budget: hedge.BudgetConfig{Burst: 100}}},
}

// tail is what calls took, and what that cost.
type tail struct {
	name           string
	p50, p99, p999 time.Duration
	extra          float64 // copies for each call
	load           float64 // share of their time that the replicas were busy
	bounded        bool    // by a budget of 5 %
}

func studyHedging(seed uint64) ([]tail, error) {
	all := make([]tail, len(aims))
	for i, a := range aims {
		f := &fleet{lot: rand.New(rand.NewPCG(seed, 3)), queues: make([]replica, replicas)}
		if i > 0 {
			p, err := hedge.New(a.config)
			if err != nil {
				return nil, err
			}
			f.policy = p
			f.aim(a.config)
		}
		all[i] = f.measure(a.name)
		all[i].bounded = i > 0 && a.config.Budget != free
	}
	return all, nil
}

// fleet is the replicas, and the policy of those who call them.
type fleet struct {
	engine  engine
	lot     *rand.Rand
	policy  *hedge.Policy // nil: no copies
	purse   purse
	recent  recent
	queues  []replica
	arrival time.Duration
	busy    time.Duration
	copies  int
	took    []time.Duration
}

// replica serves one request at a time.
type replica struct {
	waiting []*request
	at      *request
}

// request is a call's first or second copy.
type request struct {
	call *hedged
	work time.Duration
}

// hedged is one call.
type hedged struct {
	began time.Duration
	first int // its replica
	over  bool
}

// aim sets what f knows and has beside its policy, which must be of c.
func (f *fleet) aim(c hedge.Config) {
	f.purse = newPurse(c.Budget)
	f.recent.quantile = cmp.Or(c.Percentile, hedge.DefaultPercentile)
}

// plan asks the policy whether a call that begins now may have a copy.
func (f *fleet) plan() (delay time.Duration, ok bool) {
	return f.policy.Plan(hedge.State{Copies: 1, Percentile: f.recent.value, Tokens: f.purse.held})
}

func (f *fleet) measure(name string) tail {
	for range hedgedCalls + warmUp {
		f.engine.after(f.nextArrival(), f.call)
	}
	f.engine.run(forever)
	counted := f.took[warmUp:]
	slices.Sort(counted)
	return tail{
		name: name, p50: quantile(counted, 0.5), p99: quantile(counted, 0.99), p999: quantile(counted, 0.999),
		extra: float64(f.copies) / float64(len(f.took)),
		load:  float64(f.busy) / float64(f.engine.now*replicas),
	}
}

// call begins a call, and plans its copy where the policy wants one.
func (f *fleet) call() {
	c := &hedged{began: f.engine.now, first: f.lot.IntN(replicas)}
	f.send(c, c.first)
	if f.policy == nil {
		return
	}
	f.purse.put()
	if delay, ok := f.plan(); ok {
		f.engine.after(delay, func() { f.copy(c) })
	}
}

// copy sends the second copy to another replica, if it is still of use and can
// be paid for.
func (f *fleet) copy(c *hedged) {
	if !c.over && f.purse.take() {
		f.copies++
		f.send(c, (c.first+1+f.lot.IntN(replicas-1))%replicas)
	}
}

func (f *fleet) send(c *hedged, to int) {
	work := time.Duration(f.lot.ExpFloat64() * float64(serviceTime))
	if f.lot.IntN(pauseEvery) == 0 {
		work = pauseTime
	}
	r := &f.queues[to]
	r.waiting = append(r.waiting, &request{c, work})
	if r.at == nil {
		f.serve(r)
	}
}

// serve takes the next request up. One whose call is over was cancelled while
// it waited; one that is being served is served to its end.
func (f *fleet) serve(r *replica) {
	for r.at = nil; r.at == nil; r.waiting = r.waiting[1:] {
		if len(r.waiting) == 0 {
			return
		}
		if next := r.waiting[0]; !next.call.over {
			r.at = next
		}
	}
	f.busy += r.at.work
	f.engine.after(r.at.work, func() {
		if c := r.at.call; !c.over {
			c.over = true
			took := f.engine.now - c.began
			f.took = append(f.took, took)
			f.recent.add(took)
		}
		f.serve(r)
	})
}

// nextArrival is when the next call comes: in no order, at a steady rate.
func (f *fleet) nextArrival() time.Duration {
	const mean = serviceTime*(pauseEvery-1)/pauseEvery + pauseTime/pauseEvery
	f.arrival += time.Duration(f.lot.ExpFloat64() * float64(mean) / (replicas * utilisation))
	return f.arrival
}

// purse counts what a hedge budget does: each call pays in its share of a copy,
// up to the burst.
type purse struct{ held, share, burst float64 }

func newPurse(c hedge.BudgetConfig) purse {
	share, burst := cmp.Or(c.Ratio, hedge.DefaultRatio), float64(cmp.Or(c.Burst, hedge.DefaultBurst))
	return purse{burst, share, burst}
}

func (p *purse) put() { p.held = min(p.held+p.share, p.burst) }

func (p *purse) take() bool {
	if p.held < 1 {
		return false
	}
	p.held--
	return true
}

// recent is what a policy knows of the latest successes.
type recent struct {
	quantile float64
	value    time.Duration // 0 while there are too few
	last     []time.Duration
	count    int
}

func (r *recent) add(took time.Duration) {
	if len(r.last) < percentileOf {
		r.last = append(r.last, took)
	} else {
		r.last[r.count%percentileOf] = took
	}
	r.count++
	if r.count >= hedge.DefaultMinSamples && r.count%hedge.DefaultMinSamples == 0 {
		r.value = quantile(slices.Sorted(slices.Values(r.last)), r.quantile)
	}
}

// quantile returns the value below which a share q of sorted is.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
