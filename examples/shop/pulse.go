package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// beat is how often a pulse looks at the clock.
const beat = 20 * time.Millisecond

// pulse measures for how long the machine did not let this program run. On one
// that is shared, timers are late at times, and so is everything that is held
// against a deadline.
type pulse struct{ late atomic.Int64 }

// start measures until stop is called.
func (p *pulse) start() (stop func()) {
	var beating sync.WaitGroup
	done := make(chan struct{})
	beating.Go(func() {
		for last := time.Now(); ; {
			select {
			case <-done:
				return
			case <-time.After(beat):
			}
			now := time.Now()
			p.late.Add(int64(max(0, now.Sub(last)-beat)))
			last = now
		}
	})
	return func() {
		close(done)
		beating.Wait()
	}
}

// total is how long it did not run, in all.
func (p *pulse) total() time.Duration { return time.Duration(p.late.Load()) }
