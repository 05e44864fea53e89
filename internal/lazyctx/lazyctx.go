// Package lazyctx has a context with a limit in time that costs one allocation
// until somebody waits on it.
//
// context.WithTimeout starts a timer and registers with its parent when it is
// made, which is most of the cost of a timeout policy around a quick call. A
// [Ctx] does both when Done or AfterFunc is first called: a callee that never
// waits never pays. Err looks at the parent and at the clock, so a callee that
// only polls sees the limit as punctually.
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

	mu      sync.Mutex
	limit   backstay.Instant // 0: lifted
	err     error            // set once, when the context ends
	expired bool             // it was our own limit that ended it
	done    chan struct{}    // made by the first Done
	armed   bool
	timer   *time.Timer          // nil until armed
	unhook  func() bool          // takes us off the parent; nil until armed
	hooks   map[*func()]struct{} // AfterFuncs still to run
}

// New returns a context that ends with parent, and at limit at the latest.
// Whoever makes it calls [Ctx.Cancel] on every path.
func New(parent context.Context, limit backstay.Instant) *Ctx {
	return &Ctx{parent: parent, limit: limit}
}

// Deadline returns the earlier of the limit and the parent's deadline.
func (c *Ctx) Deadline() (time.Time, bool) {
	t, ok := c.parent.Deadline()
	c.mu.Lock()
	limit := c.limit
	c.mu.Unlock()
	if limit == 0 {
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
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	c.arm()
	return c.done
}

// Err returns nil while the context lives, and afterwards what ended it:
// context.DeadlineExceeded at a limit, context.Canceled otherwise.
func (c *Ctx) Err() error {
	c.mu.Lock()
	err, limit := c.err, c.limit
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if err := c.parent.Err(); err != nil {
		c.end(err, false)
	} else if limit != 0 && backstay.Now() >= limit {
		c.reach()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc arranges for f to run in a goroutine of its own when the context
// ends. The standard library's contexts register children through it, and so
// need no goroutine for each.
func (c *Ctx) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.hooks == nil {
		c.hooks = make(map[*func()]struct{})
	}
	c.hooks[&f] = struct{}{}
	c.arm()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waiting := c.hooks[&f]
		delete(c.hooks, &f)
		return waiting
	}
}

// Cancel ends the context, if it has not ended, and frees all that it holds.
func (c *Ctx) Cancel() { c.end(context.Canceled, false) }

// Lift takes the limit off, so that the context lives as long as its parent
// or until Cancel. It reports false, and changes nothing, if the context has
// ended or its limit has passed. It does not ask the parent.
func (c *Ctx) Lift() bool {
	c.mu.Lock()
	late := c.err != nil || backstay.Now() >= c.limit
	if !late {
		c.limit = 0
		if c.timer != nil {
			c.timer.Stop()
		}
	}
	c.mu.Unlock()
	if late {
		_ = c.Err() // notices a limit that nobody waited for
	}
	return !late
}

// Expired reports whether the context's own limit ended it.
func (c *Ctx) Expired() bool {
	c.mu.Lock()
	unnoticed := c.err == nil && c.limit != 0 && backstay.Now() >= c.limit
	expired := c.expired
	c.mu.Unlock()
	if !unnoticed {
		return expired
	}
	_ = c.Err()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expired
}

// String names the context as the standard library names its own.
func (c *Ctx) String() string { return "backstay.WithLimit" }

// arm starts the timer and hooks on to the parent, once. c.mu is held.
func (c *Ctx) arm() {
	if c.armed || c.err != nil {
		return
	}
	c.armed = true
	if c.limit != 0 {
		c.timer = time.AfterFunc(c.limit.Sub(backstay.Now()), c.reach)
	}
	if c.parent.Done() != nil {
		c.unhook = context.AfterFunc(c.parent, c.follow)
	}
}

// reach ends the context because its limit has come.
func (c *Ctx) reach() { c.end(context.DeadlineExceeded, true) }

// follow ends the context as the parent ended.
func (c *Ctx) follow() { c.end(c.parent.Err(), false) }

// end ends the context, the first time it is called. A limit that was lifted
// while its timer fired no longer ends anything.
func (c *Ctx) end(err error, expired bool) {
	c.mu.Lock()
	if c.err != nil || (expired && c.limit == 0) {
		c.mu.Unlock()
		return
	}
	c.err, c.expired = err, expired
	if c.done != nil {
		close(c.done)
	}
	timer, unhook, hooks := c.timer, c.unhook, c.hooks
	c.timer, c.unhook, c.hooks = nil, nil, nil
	c.mu.Unlock()

	if timer != nil {
		timer.Stop()
	}
	if unhook != nil {
		unhook()
	}
	for f := range hooks {
		go (*f)()
	}
}
