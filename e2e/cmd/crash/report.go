package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report writes what is told of a file of results as Markdown, and its figures
// into a folder.
func report(file, folder string, out io.Writer) error {
	all, err := read(file)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no results", file)
	}
	for name, text := range map[string]string{"crash-outages.svg": drawOutages(all), "crash-orders.svg": drawOrders(all)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // for everybody
			return err
		}
	}
	summary(out, all)
	return nil
}

// modes are those that a report tells of, in this order.
var modes = []string{"single", "paired", "paused", "leave", "snapshot", "total", "broker", "busy"}

// column is one that is measured.
type column struct {
	name string
	of   func(r *result) time.Duration
}

var columns = []column{
	{"outage", func(r *result) time.Duration { return r.Outage }},
	{"- detection", func(r *result) time.Duration { return r.Phases.Detection }},
	{"- reassignment", func(r *result) time.Duration { return r.Phases.Reassignment }},
	{"- takeover: snapshot", func(r *result) time.Duration { return r.Phases.Snapshot }},
	{"- takeover: replay", func(r *result) time.Duration { return r.Phases.Replay }},
	{"- takeover: fence", func(r *result) time.Duration { return r.Phases.Fence }},
	{"- first answer", func(r *result) time.Duration { return r.Phases.Answer }},
	{"longest gap of the others", func(r *result) time.Duration { return r.Others }},
	{"longest wait in the second before", func(r *result) time.Duration { return r.Before }},
	{"longest gap while it comes back", func(r *result) time.Duration { return r.Return }},
	{"slowest order meanwhile", func(r *result) time.Duration { return r.Order }},
}

// paper is what is known of outages elsewhere.
var paper = map[string]string{"single": "22 s (16.1 to 31.2 s)", "paired": "24 s"}

func summary(out io.Writer, all []result) {
	for _, m := range modes {
		some := slices.DeleteFunc(slices.Clone(all), func(r result) bool { return r.Mode != m || !r.settled() })
		if len(some) > 0 {
			table(out, m, some)
		}
	}
	failed := slices.DeleteFunc(slices.Clone(all), func(r result) bool { return r.Mode == "busy" })
	if len(failed) > 0 {
		circumstances(out, failed)
	}
	if len(failed) < len(all) {
		effort(out, all)
	}
	faults(out, all)
}

// effort is how busy the machine was where nobody failed.
func effort(out io.Writer, all []result) {
	least, most := 1.0, 0.0
	for _, r := range all {
		if r.CPU > 0 {
			least, most = min(least, r.CPU), max(most, r.CPU)
		}
	}
	fmt.Fprintf(out, "Where nobody failed, from %.0f %% to %.0f %% of the processors' time was used.\n\n", 100*least, 100*most) //nolint:mnd // percent
}

// circumstances are how the processes died, and what else the machine did.
func circumstances(out io.Writer, all []result) {
	points := make(map[string]int)
	least, most := math.Inf(1), math.Inf(-1)
	for _, r := range all {
		if at, _, _ := strings.Cut(r.Reached, "/"); at != "" {
			points[at]++
		} else {
			points["a random moment"]++
		}
		if x, err := strconv.ParseFloat(r.Load, 64); err == nil {
			least, most = min(least, x), max(most, x)
		}
	}
	fmt.Fprint(out, "Where they failed:")
	for i, at := range slices.Sorted(maps.Keys(points)) {
		if i > 0 {
			fmt.Fprint(out, ";")
		}
		fmt.Fprintf(out, " %s, %d", at, points[at])
	}
	fmt.Fprintf(out, ". The load of the machine was from %.0f to %.0f.\n\n", least, most)
}

func table(out io.Writer, mode string, some []result) {
	fmt.Fprintf(out, "### %s: %d\n\n| | median | p99 | worst | paper |\n|---|--:|--:|--:|--:|\n", mode, len(some))
	for i, c := range columns {
		var values []time.Duration
		for j := range some {
			values = append(values, c.of(&some[j]))
		}
		if slices.Sort(values); values[len(values)-1] == 0 {
			continue // where nobody fails
		}
		beside := ""
		if i == 0 {
			beside = paper[mode]
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", c.name, ms(part(values, 50)), ms(part(values, 99)), ms(part(values, 100)), beside)
	}
	fmt.Fprintln(out)
}

// part is what so many of a hundred are within.
func part(sorted []time.Duration, percent int) time.Duration {
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
}

// usual is how long an outage may be.
const usual = 3 * time.Second

// brokerSession is how long brokers wait for one that is silent, where that is
// tried; stock is 9 s.
const brokerSession = 3 * time.Second

// bounds are those of modes in which brokers wait on their own: with a group
// that is empty, for members, 3 s, and once more if some came; with a broker that
// is silent, for as long as its session.
var bounds = map[string]time.Duration{"total": usual + 6*time.Second, "broker": usual + brokerSession}

func boundOf(mode string) time.Duration {
	if d, other := bounds[mode]; other {
		return d
	}
	return usual
}

// faults lists what must not be.
func faults(out io.Writer, all []result) {
	bad, long := 0, 0
	own := make(map[string]bool) // modes with a bound of their own
	for _, r := range all {
		if bounds[r.Mode] > 0 {
			own[r.Mode] = true
		}
		if r.Outage > boundOf(r.Mode) {
			long++
			fmt.Fprintf(out, "- failure %d (%s) took %s: %s was last; detection %s, reassignment %s, answer %s; load %s\n",
				r.Number, r.Mode, ms(r.Outage), r.Last, ms(r.Phases.Detection), ms(r.Phases.Reassignment), ms(r.Phases.Answer), r.Load)
		}
		if len(r.Faults) > 0 {
			bad++
			fmt.Fprintf(out, "- failure %d (%s): %s\n", r.Number, r.Mode, strings.Join(r.Faults, "; "))
		}
	}
	fmt.Fprintf(out, "\n%d results; %d with a fault; %d with an outage of more than %.0f s", len(all), bad, long, usual.Seconds())
	for _, mode := range slices.Sorted(maps.Keys(own)) {
		fmt.Fprintf(out, ", of mode %s of more than %.0f s", mode, bounds[mode].Seconds())
	}
	fmt.Fprintln(out, ".")
}
