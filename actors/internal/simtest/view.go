package simtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// View is the log as one process sees it.
type View struct {
	cluster *Cluster
	name    string
	process int
	skew    atomic.Int64 // of the process's clock, in nanoseconds

	// Under cluster.mu.
	rng    *rand.Rand
	lanes  map[journal.Partition]*lane
	dead   bool
	closed bool
	paused int      // pauses that overlap
	held   []func() // what waits for the end of a pause
	blind  int
	unseen []*reader // what they have is told when the view sees again
	seats  []*seat
}

var _ journal.Log = (*View)(nil)

// lane is the way from a process to a partition: what goes along it keeps its
// order.
type lane struct {
	last   time.Time // when the last entry lands
	behind *sending  // lands behind the next one
}

// sending is an append under way.
type sending struct {
	to   journal.Partition
	data []byte
	done func(journal.Place, error)
}

var (
	errLost   = errors.New("simtest: no acknowledgement came")
	errFailed = errors.New("simtest: the log did not take it")
	errGone   = errors.New("simtest: the process is dead")
)

// Name is that of the process.
func (v *View) Name() string { return v.name }

// Skew is by how much the process's own clock is ahead. The runtime asks for it.
func (v *View) Skew() time.Duration { return time.Duration(v.skew.Load()) }

// Dead reports whether the process has died.
func (v *View) Dead() bool {
	v.cluster.mu.Lock()
	defer v.cluster.mu.Unlock()
	return v.dead
}

// between draws a time, small ones more often. mu is held.
func (v *View) between(least, most time.Duration) time.Duration {
	f := v.rng.Float64()
	return least + time.Duration(f*f*float64(most-least)) + time.Duration(v.rng.IntN(1000))
}

// latency is a way from or to the log. mu is held.
func (v *View) latency() time.Duration { return v.between(20*time.Microsecond, 2*time.Millisecond) }

// Count is the same for every type.
func (v *View) Count(context.Context, string) (uint32, error) { return v.cluster.count, nil }

// Append adds an entry, as far as nothing comes between.
func (v *View) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	c := v.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := v.refusal(p); err != nil {
		time.AfterFunc(0, func() { done(journal.Place{}, err) })
		return
	}
	v.perform(func() { v.send(&sending{p, data, done}) })
}

func (v *View) refusal(p journal.Partition) error {
	switch {
	case v.closed:
		return journal.ErrClosed
	case p.Index >= v.cluster.count:
		return journal.ErrNoType
	}
	return nil
}

// perform does something now, or when a pause is over, or never. mu is held.
func (v *View) perform(do func()) {
	switch {
	case v.dead:
	case v.paused > 0:
		v.held = append(v.held, do)
	default:
		do()
	}
}

// send puts an append on its way. mu is held.
func (v *View) send(s *sending) {
	kind, due := v.passAppend(s)
	v.strike(due)
	switch {
	case v.dead:
		return
	case v.paused > 0:
		v.held = append(v.held, func() { v.carry(s, kind, due) })
		return
	}
	v.carry(s, kind, due)
}

func (v *View) passAppend(s *sending) (record.Kind, []*Fault) {
	h, _, err := record.Peek(s.data)
	if err != nil {
		return 0, v.cluster.pass(v, "append")
	}
	return h.Kind, v.cluster.pass(v, "append", "append "+h.Kind.String())
}

// carry decides what becomes of an append. mu is held.
func (v *View) carry(s *sending, kind record.Kind, due []*Fault) {
	l := v.lanes[s.to]
	if l == nil {
		l = new(lane)
		v.lanes[s.to] = l
	}
	delay := v.latency()
	if f := has(due, Slow); f != nil {
		delay += f.For
	}
	if f := has(due, Copy); f != nil {
		time.AfterFunc(f.For, func() { v.cluster.land(s.to, s.data) })
	}
	if has(due, Fail) != nil {
		v.later(delay, func() { s.done(journal.Place{}, errFailed) })
		return
	}
	if (kind == record.KindRequest || kind == record.KindResponse) && v.cluster.refuses(s, due) {
		v.later(delay, func() { s.done(journal.Place{}, journal.ErrTooLarge) })
		return
	}
	if f := has(due, FailLate); f != nil {
		v.later(delay, func() { s.done(journal.Place{}, errLost) })
		time.AfterFunc(f.For, func() { v.cluster.land(s.to, s.data) })
		return
	}
	if has(due, Swap) != nil && isMail(kind) && l.behind == nil {
		l.behind = s
		time.AfterFunc(20*time.Millisecond, func() { v.release(l, s) })
		return
	}
	v.arrive(l, s, delay, due)
	if behind := l.behind; behind != nil {
		l.behind = nil
		v.arrive(l, behind, delay, nil)
	}
}

// release lets an append land that found nothing to land behind.
func (v *View) release(l *lane, s *sending) {
	v.cluster.mu.Lock()
	defer v.cluster.mu.Unlock()
	if l.behind == s {
		l.behind = nil
		v.arrive(l, s, 0, nil)
	}
}

func isMail(k record.Kind) bool {
	return k == record.KindRequest || k == record.KindResponse || k == record.KindEmpty
}

// arrive lets an append land, not before what is ahead of it, and tells the
// process. What is under way lands though its process dies. mu is held.
func (v *View) arrive(l *lane, s *sending, delay time.Duration, due []*Fault) {
	at := time.Now().Add(delay)
	if !at.After(l.last) {
		at = l.last.Add(time.Nanosecond)
	}
	l.last = at
	time.AfterFunc(time.Until(at), func() {
		place := v.cluster.land(s.to, s.data)
		v.cluster.mu.Lock()
		defer v.cluster.mu.Unlock()
		if has(due, CrashAfter) != nil {
			v.die()
		}
		if f := has(due, LoseAck); f != nil {
			v.later(v.latency()+f.For, func() { s.done(journal.Place{}, errLost) })
			return
		}
		v.later(v.latency(), func() { s.done(place, nil) })
	})
}

// later tells the process something after a while, unless it is dead by then. mu
// is held.
func (v *View) later(d time.Duration, tell func()) {
	time.AfterFunc(d, func() {
		c := v.cluster
		c.mu.Lock()
		v.perform(func() {
			v.strike(c.pass(v, "ack"))
			if v.dead {
				return
			}
			go tell()
		})
		c.mu.Unlock()
	})
}

// die ends the process as far as anybody else can tell. Others learn of it after
// a while. mu is held.
func (v *View) die() {
	if v.dead {
		return
	}
	v.dead, v.held = true, nil
	c := v.cluster
	if c.judge != nil {
		c.judge.died(v.name)
	}
	for _, s := range v.seats {
		time.AfterFunc(v.between(50*time.Millisecond, 2*time.Second), s.vacate)
	}
	if c.crashed != nil {
		go c.crashed(v)
	}
}

// pause stops all that goes in and out. mu is held.
func (v *View) pause(d time.Duration) {
	if v.dead {
		return
	}
	v.paused++
	time.AfterFunc(d, func() {
		v.cluster.mu.Lock()
		defer v.cluster.mu.Unlock()
		if v.paused > 0 {
			if v.paused--; v.paused == 0 {
				v.goOn()
			}
		}
	})
}

// resume ends all pauses. mu is held.
func (v *View) resume() {
	if v.paused > 0 {
		v.paused = 0
		v.goOn()
	}
}

// goOn does what was held back. mu is held.
func (v *View) goOn() {
	held := v.held
	v.held = nil
	for i, do := range held {
		if v.dead {
			return
		}
		if v.paused > 0 { // again
			v.held = append(v.held, held[i:]...)
			return
		}
		do()
	}
}

// blindFor hides the logs. mu is held.
func (v *View) blindFor(d time.Duration) {
	v.blind++
	time.AfterFunc(d, func() {
		v.cluster.mu.Lock()
		defer v.cluster.mu.Unlock()
		if v.blind > 0 {
			if v.blind--; v.blind == 0 {
				v.see()
			}
		}
	})
}

// see ends blindness. mu is held.
func (v *View) see() {
	v.blind = 0
	unseen := v.unseen
	v.unseen = nil
	for _, r := range unseen {
		r.tell(0)
	}
}

// Close closes the view, not the log.
func (v *View) Close() error {
	v.cluster.mu.Lock()
	defer v.cluster.mu.Unlock()
	v.closed = true
	return nil
}

// Kill ends the process now.
func (v *View) Kill() {
	v.cluster.mu.Lock()
	defer v.cluster.mu.Unlock()
	v.die()
}

// Point is a named point in a test's own code, at which faults can happen. It
// reports false if the process is dead: then nothing of it must go on.
func (v *View) Point(name string) bool {
	c := v.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	v.strike(c.pass(v, "point "+name))
	return !v.dead
}

// travel waits for a way to the log and back, and reports whether the process
// is still there. ctx ends the waiting of a dead one.
func (v *View) travel(ctx context.Context) error {
	c := v.cluster
	for {
		c.mu.Lock()
		dead, paused, closed, d := v.dead, v.paused > 0, v.closed, v.latency()
		c.mu.Unlock()
		switch {
		case closed:
			return journal.ErrClosed
		case dead:
			<-ctx.Done()
			return errGone
		case paused:
			d = 50 * time.Millisecond
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !paused {
			return nil
		}
	}
}
