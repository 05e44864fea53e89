package simtest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Effect is what a fault does.
type Effect string

// The effects. For is how long, where that means something.
const (
	// Crash: the process dies before what it was about to do is done.
	Crash Effect = "crash"
	// CrashAfter: it dies when that is done, and before it learns of it.
	CrashAfter Effect = "crash after"
	// Pause: nothing goes in or out for a while; then the process goes on.
	Pause Effect = "pause"
	// Zombie: a pause in which the process is put out of the membership; it
	// learns of that only a while after it goes on.
	Zombie Effect = "zombie"
	// Evict: it is put out of the membership, is told late, and comes in again.
	Evict Effect = "evict"
	// Blind: it reads nothing for a while; what it writes goes through.
	Blind Effect = "blind"
	// LoseAck: what is appended lands, and is reported as an error.
	LoseAck Effect = "lose ack"
	// Fail: what is appended does not land.
	Fail Effect = "fail"
	// Refuse: the log says that it will never take it, nor any copy of it. Calls
	// only, of which no copy was sent before: who made them learns of it.
	Refuse Effect = "refuse"
	// RefuseTell: the same of a tell, which leaves a dead letter.
	RefuseTell Effect = "refuse tell"
	// RefuseResult: the same of a response, whose caller gets a failure instead.
	RefuseResult Effect = "refuse result"
	// FailLate: it is reported as an error, and lands after a while.
	FailLate Effect = "fail late"
	// Copy: it lands, and once more after a while; so may an answer.
	Copy Effect = "copy"
	// Swap: it lands behind the next one to the same partition; both are
	// acknowledged where they are. Mail only: of one process's own records the
	// order is kept (H14).
	Swap Effect = "swap"
	// Slow: it takes a while, with all behind it.
	Slow Effect = "slow"
	// Clock: the log's clock is set, forward or back.
	Clock Effect = "clock"
	// Jump: the process's own clock is set, forward or back, until all is healed.
	Jump Effect = "jump"
	// LoseAnswer: the answer to a client is lost.
	LoseAnswer Effect = "lose answer"
)

// Fault is one thing that goes wrong.
type Fault struct {
	Effect
	// Process is which; copies that are started after a crash count on.
	Process int
	// Point is where, Nth the how manieth time, from 1 on. The points are
	// "append", "append " with the kind of the record, "ack", "poll", "source"
	// (a poll of an ordinary topic), "load"
	// (the cells of an actor), "store" (rows), "save" (a snapshot), "truncate", "publish", "answer", "point " with a name of the test's own,
	// and "time", where Nth counts milliseconds.
	Point string
	Nth   int
	For   time.Duration

	done bool
}

// String reads, for example, "crash/1/append step/3/0s": the effect, the process,
// the point, the number and the duration. [ParseFaults] reads it.
func (f *Fault) String() string {
	return fmt.Sprintf("%s/%d/%s/%d/%v", f.Effect, f.Process, f.Point, f.Nth, f.For)
}

// Faults writes faults as [ParseFaults] reads them.
func Faults(all []Fault) string {
	words := make([]string, len(all))
	for i := range all {
		words[i] = all[i].String()
	}
	return strings.Join(words, ";")
}

// ParseFaults reads what [Faults] has written.
func ParseFaults(text string) ([]Fault, error) {
	var all []Fault
	for word := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(word) == "" {
			continue
		}
		parts := strings.Split(strings.TrimSpace(word), "/")
		const fields = 5
		if len(parts) != fields {
			return nil, fmt.Errorf("simtest: the fault %q does not read effect/process/point/number/duration", word)
		}
		f := Fault{Effect: Effect(parts[0]), Point: parts[2]}
		var errs [3]error
		f.Process, errs[0] = strconv.Atoi(parts[1])
		f.Nth, errs[1] = strconv.Atoi(parts[3])
		f.For, errs[2] = time.ParseDuration(parts[4])
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("simtest: the fault %q: %w", word, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// pass counts a process's passing of points, and returns the faults that happen
// there. mu is held.
func (c *Cluster) pass(v *View, points ...string) []*Fault {
	if v.process < 0 || c.healed {
		return nil
	}
	var due []*Fault
	for _, point := range points {
		key := passing{v.process, point}
		c.passed[key]++
		for i := range c.faults {
			f := &c.faults[i]
			if !f.done && f.Process == v.process && f.Point == point && f.Nth == c.passed[key] {
				f.done = true
				c.happened = append(c.happened, f.String())
				due = append(due, f)
			}
		}
	}
	return due
}

type passing struct {
	process int
	point   string
}

// has reports whether one of the faults has an effect.
func has(due []*Fault, e Effect) *Fault {
	if i := slices.IndexFunc(due, func(f *Fault) bool { return f.Effect == e }); i >= 0 {
		return due[i]
	}
	return nil
}

// strike does what faults do to the process itself. mu is held.
func (v *View) strike(due []*Fault) {
	for _, f := range due {
		switch f.Effect {
		case Crash:
			v.die()
		case Pause:
			v.pause(f.For)
		case Zombie:
			v.pause(f.For)
			v.evict(f.For+f.For/2, false)
		case Evict:
			v.evict(f.For, true)
		case Blind:
			v.blindFor(f.For)
		case Clock:
			v.cluster.skew += f.For
		case Jump:
			v.skew.Add(int64(f.For))
		default: // it is about what is appended, read or saved
		}
	}
}
