package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// breaker is what brokers can be made to do.
type breaker interface {
	Kill(broker int)
	Restart(broker int)
}

// run is one failure after another.
type run struct {
	settings
	program  string
	addrs    []string
	copies   int
	cluster  breaker
	app      string
	chapters int
	plan     []string // the modes of the first failures, if they are not to be drawn
}

// mode is that of a failure.
func (r *run) mode(n int, random *rand.Rand) string {
	drawn := r.modes[random.IntN(len(r.modes))]
	if n <= len(r.plan) {
		return r.plan[n-1]
	}
	return drawn
}

// all runs the failures that the file does not have yet.
func (r *run) all(ctx context.Context, out io.Writer) (err error) {
	before, err := read(r.out)
	if err != nil {
		return err
	}
	if len(before) > 0 && !r.resume {
		return fmt.Errorf("%s has %d results: -resume goes on there", r.out, len(before))
	}
	began := time.Now()
	for n := len(before) + 1; n <= r.failures && time.Since(began) < r.within && ctx.Err() == nil; {
		done, err := r.story(ctx, n, began, out)
		if n += done; err != nil {
			return err
		}
	}
	return nil
}

// story runs a chapter, and returns how many failures it had. What goes wrong
// with it is a result.
func (r *run) story(ctx context.Context, first int, began time.Time, out io.Writer) (done int, err error) {
	c, err := r.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer c.stop()
	for n := first; n <= r.failures && n < first+r.chapter && time.Since(began) < r.within; n++ {
		res := c.failure(ctx, n)
		if ctx.Err() != nil {
			return done, nil // it was cut short
		}
		last := n == r.failures || n == first+r.chapter-1 || time.Since(began) >= r.within
		broken := len(res.Faults) > 0 && !res.settled()
		if last && !broken {
			err := c.end(ctx)
			if ctx.Err() != nil {
				return done, nil // it was cut short
			}
			if err != nil {
				res.Faults = append(res.Faults, strings.Split(err.Error(), "\n")...)
			}
		}
		done++
		if err := keep(r.out, res); err != nil {
			return done, err
		}
		res.print(out)
		if broken {
			break
		}
	}
	return done, nil
}

// failure has one, and waits until the system has settled.
func (c *chapter) failure(ctx context.Context, n int) result {
	random := rand.New(rand.NewPCG(c.run.seed, uint64(n))) //nolint:gosec // no secret
	r := result{Number: n, Seed: c.run.seed, Mode: c.run.mode(n, random), Load: load()}
	began := time.Now()
	time.Sleep(within(random, 200*time.Millisecond)) // not in step with the system
	if err := acts[r.Mode](ctx, c, random, &r); err != nil {
		r.Faults, r.Outage = append(r.Faults, err.Error()), 0
	}
	r.Faults = append(r.Faults, c.news()...)
	r.Took = time.Since(began)
	c.forget(time.Now().Add(-2 * time.Second))
	return r
}

// load is how much the machine has to do: what wants to run, on average over a
// minute.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg") // elsewhere it is not known
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func (r *result) print(out io.Writer) {
	round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	fmt.Fprintf(out, "%d %s %v at %q: outage %v (%v + %v + %v/%v/%v + %v), others %v (before %v), return %v, order %v, took %v, load %s %s\n",
		r.Number, r.Mode, r.Victims, r.Reached, round(r.Outage), round(r.Phases.Detection), round(r.Phases.Reassignment),
		round(r.Phases.Snapshot), round(r.Phases.Replay), round(r.Phases.Fence), round(r.Phases.Answer),
		round(r.Others), round(r.Before), round(r.Return), round(r.Order), round(r.Took), r.Load, strings.Join(r.Faults, "; "))
}
