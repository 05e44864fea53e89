package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// A server that is strong enough for its load, with a queue in front of it,
// hangs for a minute. Its callers wait for a second, and try three times. When
// it is back, its queue is full of requests whose callers have left, and of the
// repetitions that they sent instead.

const (
	calm       = 30 * time.Second // before the outage
	aftermath  = 5 * time.Minute  // how long after it we wait for recovery
	capacity   = 130              // requests a second
	demand     = 100              // calls of users a second
	room       = 1000             // requests that wait in the server's queue
	patience   = time.Second      // an attempt waits for so long
	programs   = 10               // that call it, each with a breaker and a budget of its own
	steady     = 10               // seconds with hardly a failure: recovered
	runsOfEach = 5
)

// outages are how long the server hangs. What is drawn is the second.
var outages = []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second}

const drawn = 1

// shield is what the callers have.
type shield struct {
	name            string
	breaker, budget bool
}

var shields = []shield{
	{"neither", false, false},
	{"budget", false, true},
	{"breaker", true, false},
	{"both", true, true},
}

// recovery is what became of the server with one shield.
type recovery struct {
	after []time.Duration // of the end of each outage, in the middle one of all runs; aftermath: never
	good  []float64       // share of calls that were answered, by the second in which they began
	load  float64         // attempts a second in the minute after the outage
}

// recoveryStudy is the recovery of each shield.
type recoveryStudy map[string]recovery

func studyRecovery(seed uint64) (recoveryStudy, error) {
	study := make(recoveryStudy)
	for _, s := range shields {
		var all recovery
		for i, outage := range outages {
			runs := make([]time.Duration, runsOfEach)
			for r := range runs {
				w, err := newWorld(s, outage, rand.New(rand.NewPCG(seed, uint64(r))))
				if err != nil {
					return nil, err
				}
				w.live()
				runs[r] = w.recovered()
				if i == drawn && r == 0 {
					all.good, all.load = w.goodput(), w.load()
				}
			}
			slices.Sort(runs)
			all.after = append(all.after, runs[len(runs)/2])
		}
		study[s.name] = all
	}
	return study, nil
}

// world is the server and those who call it.
type world struct {
	engine   engine
	lot      *rand.Rand
	outage   time.Duration
	callers  []caller
	queue    []func() // the answers that wait to be worked out
	busy     bool
	hung     bool  // it takes up nothing
	attempts []int // that were sent to the server, by second
	asked    []int // calls, by the second in which they began
	answered []int // those of them that were answered
}

// caller is one program.
type caller struct {
	policy *retry.Policy
	fuse   *fuse
}

func newWorld(s shield, outage time.Duration, lot *rand.Rand) (*world, error) {
	seconds := int((calm + outage + aftermath) / time.Second)
	w := &world{
		lot: lot, outage: outage, callers: make([]caller, programs),
		attempts: make([]int, seconds+1), asked: make([]int, seconds), answered: make([]int, seconds),
	}
	budget := retry.NoBudget
	if s.budget {
		budget = retry.BudgetConfig{}
	}
	for i := range w.callers {
		p, err := retry.New(retry.Config{Budget: budget})
		if err != nil {
			return nil, err
		}
		w.callers[i].policy = p
		if !s.breaker {
			continue
		}
		if w.callers[i].fuse, err = newFuse(&w.engine, fuseConfig); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// live lets everything happen.
func (w *world) live() {
	end := calm + w.outage + aftermath
	w.engine.after(calm, func() { w.hung = true })
	w.engine.after(calm+w.outage, func() {
		w.hung = false
		w.work()
	})
	w.arrive(end)
	w.engine.run(end)
}

// arrive makes a call of a user, and plans the next one.
func (w *world) arrive(end time.Duration) {
	w.engine.after(time.Duration(w.lot.ExpFloat64()*float64(time.Second)/demand), func() {
		if w.engine.now < end-4*patience { // later ones could not end
			second := int(w.engine.now / time.Second)
			w.asked[second]++
			c := &w.callers[w.lot.IntN(programs)]
			c.policy.Budget().Deposit(w.engine.instant())
			w.attempt(c, 1, func() { w.answered[second]++ })
		}
		w.arrive(end)
	})
}

// attempt makes attempt n of a call, unless the breaker refuses.
func (w *world) attempt(c *caller, n int, answered func()) {
	if !c.fuse.admits() {
		return
	}
	ended := c.fuse.enter()
	w.send(func(ok bool) {
		if ended(!ok); ok {
			answered()
			return
		}
		w.failed(c, n, answered)
	})
}

// failed is where the policy decides whether another attempt follows, and its
// budget whether that can be paid for.
func (w *world) failed(c *caller, n int, answered func()) {
	d := c.policy.Next(retry.State{
		Attempt: n, Outcome: backstay.Outcome{Class: backstay.Transient}, Backoff: c.policy.Backoff(n, w.lot.Uint64()),
	})
	if d.Retry && c.fuse.admits() && c.policy.Budget().TrySpendAt(w.engine.instant()) {
		w.engine.after(d.Wait, func() { w.attempt(c, n+1, answered) })
	}
}

// send puts a request into the server's queue. Its caller hears of it once:
// when it was worked on, when it waited in vain, or at once if there is no room.
func (w *world) send(heard func(ok bool)) {
	w.attempts[w.engine.now/time.Second]++
	over := false
	hear := func(ok bool) {
		if !over {
			over = true
			heard(ok)
		}
	}
	if len(w.queue) == room {
		w.engine.after(time.Millisecond, func() { hear(false) })
		return
	}
	w.engine.after(patience, func() { hear(false) })
	w.queue = append(w.queue, func() { hear(true) })
	w.work()
}

// work takes up the request that has waited longest, whether or not its caller
// still waits: a server does not know.
func (w *world) work() {
	if w.busy || w.hung || len(w.queue) == 0 {
		return
	}
	w.busy = true
	next := w.queue[0]
	w.queue = w.queue[1:]
	w.engine.after(time.Second/capacity, func() {
		w.busy = false
		next()
		w.work()
	})
}

// goodput is the share of calls that were answered, by second.
func (w *world) goodput() []float64 {
	good := make([]float64, len(w.asked))
	for s, asked := range w.asked {
		good[s] = float64(w.answered[s]) / float64(max(asked, 1))
	}
	return good
}

// load is how many attempts a second the server got in the minute after the
// outage.
func (w *world) load() float64 {
	sum := 0
	for _, n := range w.attempts[(calm+w.outage)/time.Second:][:60] {
		sum += n
	}
	return float64(sum) / 60
}

// recovered is how long after the outage all was well again.
func (w *world) recovered() time.Duration {
	first := int((calm + w.outage) / time.Second)
	well := 0
	for s := first; s < len(w.asked)-5; s++ {
		if well++; float64(w.answered[s]) < 0.99*float64(w.asked[s]) {
			well = 0
		}
		if well == steady {
			return time.Duration(s+1-steady-first) * time.Second
		}
	}
	return aftermath
}
