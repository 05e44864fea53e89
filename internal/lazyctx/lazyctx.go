// Package lazyctx has a context with a limit in time that costs one allocation
// until somebody waits on it.
//
// context.WithTimeout starts a timer and registers with its parent when it is
// made, which is most of the cost of a timeout policy around a quick call. A
// [Ctx] does both when Done or AfterFunc is first called: a callee that never
// waits never pays. Err looks at the parent and at the clock, so a callee that
// only polls sees the limit as punctually.
//
// A Ctx under another needs no timer of the other's: it keeps both limits.
//
// Who only looks takes no lock: the limit never changes, and that it was lifted,
// or that the context has ended, is an atomic flag beside it.
package lazyctx

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// Ctx is a context that ends at a limit, with its parent, or by [Ctx.Cancel],
// whichever is first. Its methods may be called from several goroutines.
type Ctx struct {
	up    *Ctx            // the parent, if it is one of ours
	root  context.Context // the nearest ancestor that is not
	limit backstay.Instant
	room  *Ctx        // for the first one of ours under us; nil where there is none
	taken atomic.Bool // the room

	mu      sync.Mutex  // what follows changes under it
	lifted  atomic.Bool // the limit does not count any longer
	ended   atomic.Bool // err and expired are set, and will not change
	expired bool        // it was our own limit that ended it
	armed   bool
	err     error
	done    chan struct{} // made by the first Done
	timer   *time.Timer
	unhook  func() bool // takes us off the root
	kids    set[*Ctx]   // armed ones of ours that end with us
	hooks   hooks
}

// forever is the limit that never comes.
const forever backstay.Instant = 1<<63 - 1

// New returns a context that ends with parent, and at limit at the latest.
// Whoever makes it calls [Ctx.Cancel] on every path.
func New(parent context.Context, limit backstay.Instant) *Ctx {
	up, ours := parent.(*Ctx)
	if !ours {
		return &Ctx{root: parent, limit: limit}
	}
	c := up.takeRoom()
	c.up, c.root, c.limit = up, up.root, limit
	return c
}

// Begin is New for a zero Ctx that is a part of something else. It comes before
// all that is done with c.
func (c *Ctx) Begin(parent context.Context, limit backstay.Instant) {
	c.root, c.limit = parent, limit
	if up, ours := parent.(*Ctx); ours {
		c.up, c.root = up, up.root
	}
}

// NewOuter is New for a context that will mostly have one of ours under it, as
// the total of a call has that of an attempt: the two are one allocation.
func NewOuter(parent context.Context, limit backstay.Instant) *Ctx {
	var pair struct{ outer, inner Ctx }
	c := &pair.outer
	c.root, c.limit, c.room = parent, limit, &pair.inner
	if up, ours := parent.(*Ctx); ours {
		c.up, c.root = up, up.root
	}
	return c
}

// takeRoom returns a blank Ctx: the one that came with c, the first time.
func (c *Ctx) takeRoom() *Ctx {
	if c.room == nil || c.taken.Swap(true) {
		return new(Ctx)
	}
	return c.room
}

// Deadline returns the earliest of the limits and of the root's deadline.
func (c *Ctx) Deadline() (time.Time, bool) {
	t, ok := c.root.Deadline()
	limit := c.nearest()
	if limit == forever {
		return t, ok
	}
	if own := limit.Time(); !ok || own.Before(t) {
		return own, true
	}
	return t, true
}

// Value returns the root's value: none of ours has any.
func (c *Ctx) Value(key any) any { return c.root.Value(key) }

// Done arms the context and returns the channel that its end closes.
func (c *Ctx) Done() <-chan struct{} {
	c.mu.Lock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	done := c.done
	c.mu.Unlock()
	c.arm()
	return done
}

// Err returns nil while the context lives, and afterwards what ended it:
// context.DeadlineExceeded at a limit, context.Canceled otherwise.
func (c *Ctx) Err() error {
	if c.ended.Load() {
		return c.why()
	}
	return c.check(backstay.Now())
}

// why returns what ended the context. It waits for the end to be complete:
// whoever sees an error finds the channel closed.
func (c *Ctx) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc arranges for f to run in a goroutine of its own when the context
// ends. The standard library's contexts register children through it, and so
// need no goroutine for each.
func (c *Ctx) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		go f()
		return func() bool { return false }
	}
	number := c.hooks.add(f)
	c.mu.Unlock()
	c.arm()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.hooks.remove(number)
	}
}

// Cancel ends the context, if it has not ended, and frees all that it holds.
func (c *Ctx) Cancel() { c.end(context.Canceled) }

// Lift takes the limit off, so that the context lives as long as its parent
// or until Cancel. It reports false, and changes nothing, if the context has
// ended or its limit has passed. It does not ask the parent. The timer, if there
// is one, stays as it is: when it wakes us we see what still counts.
func (c *Ctx) Lift() bool {
	now := backstay.Now()
	c.mu.Lock()
	late := c.err != nil || now >= c.own()
	if !late {
		c.lifted.Store(true)
	}
	c.mu.Unlock()
	if late {
		_ = c.check(now)
	}
	return !late
}

// Expired reports whether the context's own limit ended it.
func (c *Ctx) Expired() bool {
	if !c.ended.Load() {
		limit := c.own()
		if limit == forever {
			return false
		}
		now := backstay.Now()
		if now < limit {
			return false
		}
		_ = c.check(now)
	}
	return c.ended.Load() && c.expired
}

// String names the context as the standard library names its own.
func (c *Ctx) String() string { return "backstay.WithLimit" }

// nearest returns the nearest limit of c and of those of ours above it.
func (c *Ctx) nearest() backstay.Instant {
	limit := c.own()
	for up := c.up; up != nil; up = up.up {
		limit = min(limit, up.own())
	}
	return limit
}

// own returns the limit of c itself, forever once it was lifted.
func (c *Ctx) own() backstay.Instant {
	if c.lifted.Load() {
		return forever
	}
	return c.limit
}

// arm makes the end come by itself, once: by a timer, by the root, by the one
// of ours above.
func (c *Ctx) arm() {
	c.mu.Lock()
	again := c.armed || c.err != nil
	c.armed = true
	c.mu.Unlock()
	if again {
		return
	}
	if c.up != nil && !c.up.adopt(c) {
		c.end(c.up.Err())
		return
	}
	wake := c.wake // one allocation for both
	c.start(wake)
	if c.root.Done() != nil {
		c.hold(context.AfterFunc(c.root, wake))
	}
}

// start starts the timer, if there is a limit. It holds mu meanwhile, so that
// a timer that fires at once finds itself kept.
func (c *Ctx) start(wake func()) {
	limit := c.nearest()
	if limit == forever {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.timer = time.AfterFunc(limit.Sub(backstay.Now()), wake)
	}
}

// hold keeps what takes us off the root, to be called at the end; at once if
// that has come.
func (c *Ctx) hold(unhook func() bool) {
	c.mu.Lock()
	ended := c.err != nil
	if !ended {
		c.unhook = unhook
	}
	c.mu.Unlock()
	if ended {
		unhook()
	}
}

// wake is what the timer and the root call. Where nothing has ended, the limit
// was lifted since the timer was started, and it is for what still counts.
func (c *Ctx) wake() {
	now := backstay.Now()
	if c.check(now) != nil {
		return
	}
	limit := c.nearest()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil && limit != forever {
		c.timer.Reset(limit.Sub(now))
	}
}

func free(timer *time.Timer, unhook func() bool) {
	if timer != nil {
		timer.Stop()
	}
	if unhook != nil {
		unhook()
	}
}

// adopt makes kid end with c. It reports false if c has ended.
func (c *Ctx) adopt(kid *Ctx) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	c.kids.add(kid)
	return true
}

func (c *Ctx) disown(kid *Ctx) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kids.remove(kid)
}

// check ends the context if its parent has ended or its limit has passed, and
// returns what ended it, if anything has.
func (c *Ctx) check(now backstay.Instant) error {
	var above error
	if c.up != nil {
		above = c.up.check(now)
	} else {
		above = c.root.Err()
	}
	if above != nil {
		c.end(above)
	} else if now >= c.own() {
		c.expire(now)
	}
	if !c.ended.Load() {
		return nil
	}
	return c.why()
}

// expire ends the context if its limit has passed. Either it does, or Lift
// takes the limit off: never both.
func (c *Ctx) expire(now backstay.Instant) {
	c.mu.Lock()
	if now < c.own() {
		c.mu.Unlock()
		return
	}
	c.finish(context.DeadlineExceeded, true)
}

// end ends the context, the first time it is called.
func (c *Ctx) end(err error) {
	c.mu.Lock()
	c.finish(err, false)
}

// finish is the end of end and expire. It is called with mu, and unlocks it.
func (c *Ctx) finish(err error, expired bool) {
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err, c.expired = err, expired
	c.ended.Store(true) // before that: whoever finds the channel closed sees an error
	if c.done != nil {
		close(c.done)
	}
	armed, timer, unhook, kids, hooks := c.armed, c.timer, c.unhook, c.kids, c.hooks
	c.timer, c.unhook, c.kids = nil, nil, set[*Ctx]{}
	c.hooks.clear()
	c.mu.Unlock()

	free(timer, unhook)
	if armed && c.up != nil {
		c.up.disown(c)
	}
	kids.each(func(kid *Ctx) { kid.end(err) })
	hooks.each(func(f func()) { go f() })
}
