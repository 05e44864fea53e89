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
package lazyctx

import (
	"context"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// Ctx is a context that ends at a limit, with its parent, or by [Ctx.Cancel],
// whichever is first. Its methods may be called from several goroutines.
type Ctx struct {
	parent context.Context
	up     *Ctx            // the parent, if it is one of ours
	root   context.Context // the nearest ancestor that is not

	mu      sync.Mutex
	limit   backstay.Instant // forever once lifted
	err     error            // set once, when the context ends
	expired bool             // it was our own limit that ended it
	armed   bool
	done    chan struct{} // made by the first Done
	timer   *time.Timer
	unhook  func() bool // takes us off the root
	kids    set[*Ctx]   // armed ones of ours that end with us
	hooks   set[*func()]
}

// forever is the limit that never comes.
const forever backstay.Instant = 1<<63 - 1

// New returns a context that ends with parent, and at limit at the latest.
// Whoever makes it calls [Ctx.Cancel] on every path.
func New(parent context.Context, limit backstay.Instant) *Ctx {
	c := &Ctx{parent: parent, root: parent, limit: limit}
	if up, ok := parent.(*Ctx); ok {
		c.up, c.root = up, up.root
	}
	return c
}

// Deadline returns the earlier of the limit and the parent's deadline.
func (c *Ctx) Deadline() (time.Time, bool) {
	t, ok := c.parent.Deadline()
	c.mu.Lock()
	limit := c.limit
	c.mu.Unlock()
	if limit == forever {
		return t, ok
	}
	if own := limit.Time(); !ok || own.Before(t) {
		return own, true
	}
	return t, true
}

// Value returns the parent's value.
func (c *Ctx) Value(key any) any { return c.parent.Value(key) }

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
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return c.check(backstay.Now())
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
	c.hooks.add(&f)
	c.mu.Unlock()
	c.arm()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.hooks.remove(&f)
	}
}

// Cancel ends the context, if it has not ended, and frees all that it holds.
func (c *Ctx) Cancel() { c.end(context.Canceled) }

// Lift takes the limit off, so that the context lives as long as its parent
// or until Cancel. It reports false, and changes nothing, if the context has
// ended or its limit has passed. It does not ask the parent.
func (c *Ctx) Lift() bool {
	now := backstay.Now()
	c.mu.Lock()
	late := c.err != nil || now >= c.limit
	if !late {
		c.limit = forever
		c.wind(now)
	}
	c.mu.Unlock()
	if late {
		_ = c.check(now)
	}
	return !late
}

// wind sets the timer, if there is one, to what still counts: the limits above.
// mu is held, so that it cannot wind the timer of a context that has ended.
func (c *Ctx) wind(now backstay.Instant) {
	if c.timer == nil {
		return
	}
	if c.up == nil {
		c.timer.Stop()
		return
	}
	c.timer.Reset(c.up.nearest().Sub(now))
}

// Expired reports whether the context's own limit ended it.
func (c *Ctx) Expired() bool {
	c.mu.Lock()
	living, limit := c.err == nil, c.limit
	c.mu.Unlock()
	if living && limit != forever {
		if now := backstay.Now(); now >= limit {
			_ = c.check(now)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expired
}

// String names the context as the standard library names its own.
func (c *Ctx) String() string { return "backstay.WithLimit" }

// nearest returns the nearest limit of c and of those of ours above it.
func (c *Ctx) nearest() backstay.Instant {
	c.mu.Lock()
	limit := c.limit
	c.mu.Unlock()
	if c.up != nil {
		limit = min(limit, c.up.nearest())
	}
	return limit
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
	var (
		timer  *time.Timer
		unhook func() bool
		wake   = func() { _ = c.check(backstay.Now()) }
	)
	if limit := c.nearest(); limit != forever {
		timer = time.AfterFunc(limit.Sub(backstay.Now()), wake)
	}
	if c.root.Done() != nil {
		unhook = context.AfterFunc(c.root, wake)
	}
	c.hold(timer, unhook)
}

// hold keeps what arm made, to be freed at the end; at once if that has come.
func (c *Ctx) hold(timer *time.Timer, unhook func() bool) {
	c.mu.Lock()
	c.timer, c.unhook = timer, unhook
	ended := c.err != nil
	if c.limit == forever && !ended {
		c.wind(backstay.Now()) // the limit was lifted while arm looked at it
	}
	c.mu.Unlock()
	if ended {
		free(timer, unhook)
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
	} else {
		c.expire(now)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// expire ends the context if its limit has passed. Either it does, or Lift
// takes the limit off: never both.
func (c *Ctx) expire(now backstay.Instant) {
	c.mu.Lock()
	if now < c.limit {
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
	if c.done != nil {
		close(c.done)
	}
	armed, timer, unhook, kids, hooks := c.armed, c.timer, c.unhook, c.kids, c.hooks
	c.timer, c.unhook, c.kids, c.hooks = nil, nil, set[*Ctx]{}, set[*func()]{}
	c.mu.Unlock()

	free(timer, unhook)
	if armed && c.up != nil {
		c.up.disown(c)
	}
	kids.each(func(kid *Ctx) { kid.end(err) })
	hooks.each(func(f *func()) { go (*f)() })
}
