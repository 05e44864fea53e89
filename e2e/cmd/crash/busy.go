package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"time"
)

const (
	// busyFor is how long nobody fails, and busyAt the part of the processors'
	// time that is used meanwhile, by whomever.
	busyFor = time.Minute
	busyAt  = 0.9
)

// busy keeps the processors busy. Nobody fails, so that nobody may be removed
// from the group.
func busy(ctx context.Context, c *chapter, _ *rand.Rand, r *result) error {
	c.watch(r)
	before, err := usage()
	if err != nil {
		return err
	}
	from := time.Now()
	if err := burning(ctx, busyFor); err != nil {
		return err
	}
	to := time.Now()
	after, err := usage()
	if err != nil {
		return err
	}
	if err := c.settle(ctx); err != nil {
		return err
	}
	s := c.heard()
	r.CPU, r.Others, r.Faults = after.since(before), s.gap(everything(), from, to), s.wronged(nil, from, to)
	return nil
}

// burning lets a process for each processor use what is left of it.
func burning(ctx context.Context, long time.Duration) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	var all []*exec.Cmd
	defer func() {
		cancel()
		for _, c := range all {
			_ = c.Wait() // it was killed
		}
	}()
	for range runtime.NumCPU() {
		c := exec.CommandContext(ctx, self, "burn") //nolint:gosec // this very program
		if err := c.Start(); err != nil {
			return err
		}
		all = append(all, c)
	}
	<-ctx.Done()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return ctx.Err()
}

// burn uses up processor time until it is killed, as much as makes the machine
// as busy as it is to be.
func burn() error {
	const turn = 20 * time.Millisecond
	last, err := usage()
	if err != nil {
		return err
	}
	for turns, part := 0, 0.0; ; turns++ {
		for end := time.Now().Add(time.Duration(part * float64(turn))); time.Now().Before(end); {
		}
		time.Sleep(time.Duration((1 - part) * float64(turn)))
		const judged = 10 // turns: the system counts hundredths of a second
		if turns%judged != 0 {
			continue
		}
		now, err := usage()
		if err != nil {
			return err
		}
		part, last = next(part, now.since(last)), now
	}
}

// next is the part of its time that a burner uses, after it was part and the
// machine was so busy.
func next(part, busy float64) float64 {
	return min(max(part+(busyAt-busy)/2, 0), 1)
}

// ticks is the time that the processors have been used, and were there.
type ticks struct{ used, all float64 }

// usage reads what the system has counted since it was started.
func usage() (ticks, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}, fmt.Errorf("how busy the machine is cannot be told here: %w", err)
	}
	return parseUsage(string(text))
}

// parseUsage takes the first line: what was spent on what.
func parseUsage(text string) (t ticks, err error) {
	var each [8]float64 // user, nice, system, idle, iowait, irq, softirq, steal
	args := make([]any, len(each))
	for i := range each {
		args[i] = &each[i]
	}
	if _, err := fmt.Sscanf(text, "cpu %g %g %g %g %g %g %g %g", args...); err != nil {
		return t, fmt.Errorf("/proc/stat: %w", err)
	}
	const idle, waiting = 3, 4
	for i, x := range each {
		t.all += x
		if i != idle && i != waiting {
			t.used += x
		}
	}
	return t, nil
}

// since is the part that was used since another time.
func (t ticks) since(before ticks) float64 {
	if t.all == before.all {
		return 0
	}
	return (t.used - before.used) / (t.all - before.all)
}
