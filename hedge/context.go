package hedge

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Copy returns the number of the copy that ctx belongs to: 1 for the first and
// for every call that is not hedged.
func Copy(ctx context.Context) int {
	if c := copyOf(ctx); c != nil {
		return c.number
	}
	return 1
}

// Used tells the other copies of the call that this one was sent to replica.
// It is for the transport, which calls it as soon as it has chosen. Outside a
// hedged call it does nothing.
func Used(ctx context.Context, replica string) {
	if c := copyOf(ctx); c != nil {
		c.trail.add(c.number, replica)
	}
}

// AvoidFrom returns the replicas that other copies of the call were sent to,
// as far as their transports told [Used]: a hint to choose another one. It
// returns nil where there is nothing to avoid.
func AvoidFrom(ctx context.Context) []string {
	if c := copyOf(ctx); c != nil {
		return c.trail.without(c.number)
	}
	return nil
}

// trail is where the copies of one call went.
type trail struct {
	mu   sync.Mutex
	uses []use
}

type use struct {
	number  int
	replica string
}

func (t *trail) add(number int, replica string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u := (use{number, replica}); !slices.Contains(t.uses, u) {
		t.uses = append(t.uses, u)
	}
}

func (t *trail) without(number int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var others []string
	for _, u := range t.uses {
		if u.number != number && !slices.Contains(others, u.replica) {
			others = append(others, u.replica)
		}
	}
	return others
}

type copyKey struct{}

func copyOf(ctx context.Context) *copyContext {
	c, _ := ctx.Value(copyKey{}).(*copyContext)
	return c
}

// copyContext is the context of one copy, which ends with the caller's or when
// the copy has lost. Most first copies answer before anybody waits on theirs,
// so the cancellation of its own is made by the first who needs it; until then
// it is the caller's context.
type copyContext struct {
	context.Context //nolint:containedctx // it is a context, and this its parent

	trail  *trail
	own    atomic.Pointer[cancellation]
	number int
}

type cancellation struct {
	ctx    context.Context //nolint:containedctx // part of a context
	cancel context.CancelCauseFunc
}

// spent is the own cancellation of every context that ended before it had one.
var spent = func() *cancellation {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(nil)
	return &cancellation{ctx, cancel}
}()

// Done returns the channel that the end of the copy closes.
func (c *copyContext) Done() <-chan struct{} { return c.arm().ctx.Done() }

// Err returns what ended the copy, nil while it lives.
func (c *copyContext) Err() error {
	if own := c.own.Load(); own != nil {
		return own.ctx.Err()
	}
	return c.Context.Err()
}

// Value returns the caller's value, and the copy itself.
func (c *copyContext) Value(key any) any {
	if _, ok := key.(copyKey); ok {
		return c
	}
	// The own context knows what the standard library looks for: where to hook
	// on, and the cause.
	if own := c.own.Load(); own != nil && own != spent {
		return own.ctx.Value(key)
	}
	return c.Context.Value(key)
}

// arm returns the copy's own cancellation, which it makes if need be.
func (c *copyContext) arm() *cancellation {
	if own := c.own.Load(); own != nil {
		return own
	}
	ctx, cancel := context.WithCancelCause(c.Context)
	if !c.own.CompareAndSwap(nil, &cancellation{ctx, cancel}) {
		cancel(nil)
	}
	return c.own.Load()
}

// lose ends the copy because the race was decided without it, or because the
// caller left, whose cause it then keeps.
func (c *copyContext) lose() {
	cause := ErrLost
	if c.Context.Err() != nil {
		cause = context.Cause(c.Context)
	}
	c.arm().cancel(cause)
}

// Cancel ends the copy because it is used up.
func (c *copyContext) Cancel() {
	if c.own.Load() == nil && (c.Context.Err() != nil || c.own.CompareAndSwap(nil, spent)) {
		return // it ended with the caller's, or nobody had waited
	}
	c.arm().cancel(nil)
}
