package runtime

import (
	"errors"
	"math"
	"time"
)

// assisted is how many turns a helper drives at most: under load the loop's own
// goroutine does better, with larger batches.
const assisted = 4

// turns is the loop of an owner, until it ends. It is whoever has the baton that
// runs it; what begins and ends it is the loop's own goroutine.
func (inc *incarnation) turns() error {
	inc.invite()
	inc.here().Store(inc)
	defer inc.here().Store(nil)
	for inc.drive(nil, math.MaxInt) {
		inc.wait()
	}
	return inc.ended
}

// drive runs turns, as the one who has the baton, until there is nothing to do.
// It reports false if it still has the baton: so many turns were not enough, or
// the incarnation has ended. w is the worker that drives, if one does: it is
// the first to be given a method, since nobody need be woken for that.
func (inc *incarnation) drive(w *worker, most int) (done bool) {
	back := false
	defer func() {
		if !back {
			inc.forsaken()
		}
	}()
	done = inc.turnAbout(w, most)
	back = true
	return done
}

// errForsaken: who drove did not come back.
var errForsaken = errors.New("runtime: the log has panicked")

// forsaken saves the baton from a panic, of the log's. Where that ends the process,
// nothing more is lost than in any crash; but a client's goroutine may go on, and
// nobody else would ever drive. Half a turn is done, so the incarnation ends.
func (inc *incarnation) forsaken() {
	inc.resign(errForsaken)
	inc.driver = nil
	inc.handOver()
}

// turnAbout is drive, if nothing panics.
func (inc *incarnation) turnAbout(w *worker, most int) (done bool) {
	for range most {
		if inc.ended != nil {
			return false
		}
		inc.driver = w
		inc.turn()
		inc.driver = nil
		if inc.ended == nil && inc.layDown() {
			return true
		}
		if w != nil && w.next != nil {
			return false // it has a method to run
		}
	}
	return false
}

// assist drives for somebody who has got the baton by chance, and has something
// else to do soon.
func (inc *incarnation) assist(w *worker) {
	if !inc.drive(w, assisted) {
		inc.handOver()
	}
}

// helped ends a hold: the helper has appended what it waits for.
func (inc *incarnation) helped() {
	if inc.help() {
		inc.assist(nil)
	}
}

// layDown puts the baton down, and the timer to when the next thing is due. It
// reports false if there is something to do.
func (inc *incarnation) layDown() bool {
	if at, ok := inc.nextDue(); ok {
		inc.set(at)
	}
	return inc.lie()
}

// wait waits, on the loop's own goroutine, until the baton comes to it.
func (inc *incarnation) wait() {
	for {
		select {
		case <-inc.signal:
			return
		case <-inc.timer.C:
			if inc.rise() {
				return
			}
		}
	}
}

// set makes the timer fire at a time, or earlier: moving it costs more than a
// turn for nothing now and then.
func (inc *incarnation) set(at time.Time) {
	if !inc.alarm.IsZero() && !inc.alarm.After(at) {
		return
	}
	inc.alarm = at
	inc.timer.Reset(at.Sub(inc.local))
}

// nextDue is when something is to be looked at, by the local clock.
func (inc *incarnation) nextDue() (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if first, some := inc.agenda.first(); some {
		sooner(inc.local.Add(time.Duration(first-inc.now) * time.Millisecond))
	}
	if len(inc.flights) > 0 {
		sooner(inc.flights[0].sent.Add(inc.node.config.Patience))
	}
	if s := inc.idle.oldest(); s != nil && inc.typ.IdleAfter >= 0 {
		sooner(s.since.Add(inc.typ.IdleAfter))
	}
	return at, ok
}
