package simtest

import (
	"math/rand/v2"
	"time"
)

// kinds of records that faults aim at, the interesting ones more often.
var kinds = []string{
	"step", "step", "step", "issued", "issued", "takeover", "write", "begun", "failed", "forwarded",
	"request", "request", "response", "client request", "expired", "fire", "cancel", "undeliverable", "ingest", "ingest",
}

// Plan draws faults: how many, which, where and when follow from the seed alone.
// span is about how long the test runs before it is healed; points are those of
// the test's own, see [View.Point].
func Plan(seed uint64, processes int, span time.Duration, points ...string) []Fault {
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeatable
	faults := make([]Fault, rng.IntN(9))
	for i := range faults {
		faults[i] = draw(rng, processes, span)
		if len(points) > 0 && rng.IntN(3) == 0 {
			faults[i] = Fault{Effect: Crash, Process: rng.IntN(processes), Point: "point " + points[rng.IntN(len(points))], Nth: 1 + rng.IntN(6)}
		}
	}
	return faults
}

// harsh draws a fault that not every test can bear: a call fails, a tell is lost, a
// deadline passes early, though nobody has done anything wrong. It draws none for
// some seeds.
func harsh(seed uint64, processes int, span time.Duration) []Fault {
	rng := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // to be repeatable
	f := Fault{Process: rng.IntN(processes)}
	switch rng.IntN(4) {
	case 0:
		f.Effect, f.Point, f.Nth = Refuse, "append request", 1+rng.IntN(6)
	case 1, 2:
		ahead, behind := between(rng, 0, farOff), between(rng, 0, farOff)
		f.Effect, f.Point, f.Nth, f.For = Jump, "time", 1+rng.IntN(int(span.Milliseconds())), ahead-behind
	default:
		return nil
	}
	return []Fault{f}
}

// farOff is how far a process's clock jumps at most: past every deadline and
// every wait of the tests.
const farOff = 3 * time.Minute

// atAppend are the effects that happen at appends, with how long they last.
var atAppend = []struct {
	Effect
	least, most time.Duration
}{
	{Crash, 0, 0},
	{Crash, 0, 0},
	{CrashAfter, 0, 0},
	{Pause, time.Millisecond, 5 * time.Second},
	{Zombie, 5 * time.Millisecond, 3 * time.Second},
	{Zombie, 5 * time.Millisecond, 3 * time.Second},
	{LoseAck, 0, 40 * time.Second},
	{FailLate, time.Millisecond, 40 * time.Second},
	{Copy, 10 * time.Microsecond, 20 * time.Second},
	{Copy, 10 * time.Microsecond, 20 * time.Second},
	{Fail, 0, 0},
	{Swap, 0, 0},
	{Slow, time.Millisecond, 3 * time.Second},
}

func draw(rng *rand.Rand, processes int, span time.Duration) Fault {
	f := Fault{Process: rng.IntN(processes)}
	const elsewhere = 5 // of 18
	n := rng.IntN(len(atAppend) + elsewhere)
	if n >= len(atAppend) {
		return drawElsewhere(rng, f, span)
	}
	f.Effect, f.For = atAppend[n].Effect, between(rng, atAppend[n].least, atAppend[n].most)
	f.Point, f.Nth = "append "+kinds[rng.IntN(len(kinds))], 1+rng.IntN(6)
	anywhere := f.Effect == Crash || f.Effect == Pause || f.Effect == Zombie // they are not about what is appended
	switch {
	case f.Effect == Swap:
		f.Point = []string{"append request", "append response"}[rng.IntN(2)]
	case rng.IntN(4) == 0:
		f.Point, f.Nth = "append", 1+rng.IntN(60)
	case anywhere && rng.IntN(4) == 0:
		f.Point, f.Nth = []string{"ack", "poll", "time"}[rng.IntN(3)], 1+rng.IntN(100)
	}
	return f
}

// between draws a time, short ones more often.
func between(rng *rand.Rand, least, most time.Duration) time.Duration {
	x := rng.Float64()
	return least + time.Duration(x*x*x*float64(most-least))
}

// drawElsewhere draws a fault that is not about appends.
func drawElsewhere(rng *rand.Rand, f Fault, span time.Duration) Fault {
	long := func(least, most time.Duration) time.Duration { return between(rng, least, most) }
	f.Point, f.Nth = "time", 1+rng.IntN(int(span.Milliseconds()))
	at := func(e Effect, point string, most int) { f.Effect, f.Point, f.Nth = e, point, 1+rng.IntN(most) }
	switch rng.IntN(18) {
	case 0:
		ahead, behind := long(0, 20*time.Second), long(0, 20*time.Second)
		f.Effect, f.For = Clock, ahead-behind
	case 1:
		f.Effect, f.For = Blind, long(time.Millisecond, 3*time.Second)
	case 2, 3:
		f.Effect, f.For = Evict, long(time.Millisecond, 2*time.Second)
	case 4:
		f.Effect, f.Point, f.Nth, f.For = FailLate, "save", 1+rng.IntN(3), long(time.Millisecond, 5*time.Second)
	case 5:
		f.Effect, f.Point, f.Nth, f.For = Slow, "save", 1+rng.IntN(3), long(time.Millisecond, 5*time.Second)
	case 6:
		at([]Effect{LoseAnswer, Copy}[rng.IntN(2)], "answer", 5)
		f.For = long(10*time.Microsecond, 20*time.Second)
	case 7:
		at(Fail, "load", 10)
	case 8:
		at(Slow, "load", 10)
		f.For = long(time.Millisecond, 15*time.Second)
	case 9: // rows, and no manifest
		at([]Effect{Crash, CrashAfter, Fail}[rng.IntN(3)], "store", 4)
	case 10, 11, 12:
		at([]Effect{FailLate, Slow}[rng.IntN(2)], "store", 4)
		f.For = long(time.Millisecond, 20*time.Second)
	case 13:
		at([]Effect{Crash, Zombie}[rng.IntN(2)], []string{"load", "save"}[rng.IntN(2)], 4)
		f.For = long(5*time.Millisecond, 3*time.Second)
	case 14, 15: // messages were read, and are on no record
		at([]Effect{Crash, Zombie, Fail, Slow}[rng.IntN(4)], "source", 20)
		f.For = long(5*time.Millisecond, 3*time.Second)
	default:
		f.Effect, f.Point, f.Nth = Fail, "poll", 1+rng.IntN(100)
	}
	return f
}
