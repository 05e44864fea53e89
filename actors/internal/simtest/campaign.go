package simtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What the environment says about campaigns.
const (
	// EnvSeeds is how many seeds are tried.
	EnvSeeds = "ACTORSTEST_SEEDS"
	// EnvFrom is the first of them, 1.
	EnvFrom = "ACTORSTEST_FROM"
	// EnvSeed is the one seed to try.
	EnvSeed = "ACTORSTEST_SEED"
	// EnvFaults are the faults to try it with, instead of those that it draws.
	EnvFaults = "ACTORSTEST_FAULTS"
)

// Campaign tries many seeds.
type Campaign struct {
	// Seeds is how many, unless the environment says it.
	Seeds int
	// Parallel is how many at a time, 1.
	Parallel int
	// Processes, Span and Points are for [Plan].
	Processes int
	Span      time.Duration
	Points    []string
	// Harsh adds what an application is not tried with: that the clock of a
	// process jumps, and that the log refuses a request for good.
	Harsh bool
	// Try runs one seed with these faults and returns what went wrong.
	Try func(seed uint64, faults []Fault) (bad []string)
}

// Run tries the seeds until one fails, makes its faults fewer and shorter for as
// long as it still fails, and says how to repeat that.
func (c *Campaign) Run(t *testing.T) {
	t.Helper()
	if text, ok := os.LookupEnv(EnvSeed); ok {
		c.repeat(t, text)
		return
	}
	n, from := c.number(t, EnvSeeds, c.Seeds), c.number(t, EnvFrom, 1)
	var next atomic.Uint64
	next.Store(uint64(from)) //nolint:gosec // checked to be positive
	last := uint64(from + n) //nolint:gosec // checked to be positive
	var first failure
	var wg sync.WaitGroup
	for range max(c.Parallel, 1) {
		wg.Go(func() {
			for seed := next.Add(1) - 1; seed < last && !first.any(); seed = next.Add(1) - 1 {
				first.note(seed, c.Try(seed, c.plan(seed)))
			}
		})
	}
	wg.Wait()
	if first.any() {
		faults, bad := c.shrink(&first)
		c.report(t, first.seed, faults, bad)
	}
}

// failure is the first seed that failed.
type failure struct {
	mu   sync.Mutex
	seed uint64
	bad  []string
}

func (f *failure) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.bad) > 0
}

func (f *failure) note(seed uint64, bad []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.bad) == 0 {
		f.seed, f.bad = seed, bad
	}
}

func (c *Campaign) number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text, ok := os.LookupEnv(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a positive number", name, text)
	}
	return n
}

func (c *Campaign) plan(seed uint64) []Fault {
	faults := Plan(seed, c.Processes, c.Span, c.Points...)
	if c.Harsh {
		faults = append(faults, harsh(seed, c.Processes, c.Span)...)
	}
	return faults
}

// repeat tries one seed.
func (c *Campaign) repeat(t *testing.T, text string) {
	t.Helper()
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a number", EnvSeed, text)
	}
	faults := c.plan(seed)
	if text, ok := os.LookupEnv(EnvFaults); ok {
		if faults, err = ParseFaults(text); err != nil {
			t.Fatal(err)
		}
	}
	if bad := c.Try(seed, slices.Clone(faults)); len(bad) > 0 {
		c.report(t, seed, faults, bad)
	}
}

// tries is how often a set of faults may hold before it counts as harmless: who
// runs first at one instant is not up to the seed.
const tries = 3

func (c *Campaign) fails(seed uint64, faults []Fault) []string {
	for range tries {
		if bad := c.Try(seed, slices.Clone(faults)); len(bad) > 0 {
			return bad
		}
	}
	return nil
}

// shrink leaves faults out, and shortens them, while the seed still fails.
func (c *Campaign) shrink(first *failure) ([]Fault, []string) {
	seed, faults := first.seed, c.plan(first.seed)
	bad := c.fails(seed, faults)
	if bad == nil {
		return faults, append(first.bad, "(it failed once, and not again: the order of what happens at one instant is not up to the seed)")
	}
	for i := 0; i < len(faults); {
		fewer := slices.Delete(slices.Clone(faults), i, i+1)
		if b := c.fails(seed, fewer); b != nil {
			faults, bad = fewer, b
			continue
		}
		i++
	}
	const shortest = 10 * time.Millisecond
	for i := range faults {
		for faults[i].For > shortest {
			shorter := slices.Clone(faults)
			shorter[i].For = (shorter[i].For / 2).Round(time.Millisecond)
			b := c.fails(seed, shorter)
			if b == nil {
				break
			}
			faults, bad = shorter, b
		}
	}
	return faults, bad
}

func (c *Campaign) report(t *testing.T, seed uint64, faults []Fault, bad []string) {
	t.Helper()
	name := strings.ReplaceAll(t.Name(), "/", "$/^")
	t.Errorf("seed %d fails:\n  %s\nwith these faults: %v\nrepeat it, in the folder of the test:\n  %s=%d %s='%s' go test -run '^%s$' .",
		seed, strings.Join(bad, "\n  "), faultLines(faults), EnvSeed, seed, EnvFaults, Faults(faults), name)
}

func faultLines(faults []Fault) string {
	if len(faults) == 0 {
		return "none"
	}
	var b strings.Builder
	for i := range faults {
		fmt.Fprintf(&b, "\n  %s", faults[i].String())
	}
	return b.String()
}
