package actorstest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// Options are those of [RunWith]. The zero value is that of [Run].
type Options struct {
	// Seeds is how many are tried, unless the environment says it; 0 means 40,
	// and 10 with -short.
	Seeds int
	// Processes is how many faults are dealt out to, 3.
	Processes int
	// Span is how long faults happen at least, in virtual time, 3 s.
	Span time.Duration
	// Partitions is the number of every type's, 3.
	Partitions uint32
	// Points are those that methods pass with [Sim.Point].
	Points []string
	// Faultless draws no faults.
	Faultless bool
}

func (o Options) withDefaults() Options {
	if o.Seeds == 0 {
		o.Seeds = 40
		if testing.Short() {
			o.Seeds = 10
		}
	}
	if o.Processes == 0 {
		o.Processes = 3
	}
	if o.Span == 0 {
		o.Span = 3 * time.Second
	}
	return o
}

// Run runs test under the faults of many seeds, and fails t with the first seed
// that fails.
func Run(t *testing.T, test func(sim *Sim)) {
	t.Helper()
	RunWith(t, Options{}, test)
}

// RunWith is Run with options.
func RunWith(t *testing.T, o Options, test func(sim *Sim)) {
	t.Helper()
	o = o.withDefaults()
	c := simtest.Campaign{Seeds: o.Seeds, Processes: o.Processes, Span: o.Span, Points: o.Points}
	c.Try = func(seed uint64, faults []simtest.Fault) []string {
		if o.Faultless {
			faults = nil
		}
		return try(t, o, seed, faults, test)
	}
	c.Run(t)
}

// longest is how long a test may take, in virtual time.
const longest = time.Hour

// try runs the test once, and returns what went wrong.
func try(t *testing.T, o Options, seed uint64, faults []simtest.Fault, test func(sim *Sim)) (bad []string) {
	synctest.Test(t, func(bubble *testing.T) {
		s := newSim(bubble, o.withDefaults(), seed, faults)
		done := make(chan struct{})
		go func() {
			defer close(done)
			test(s)
			s.Settle()
		}()
		select {
		case <-done:
		case <-time.After(longest):
			s.Errorf("the test has not ended after %v", longest)
		}
		s.stop()
		<-done
		bad = s.bad()
	})
	return bad
}
