package lazyctx

import "context"

// Standard returns a context of the standard library that ends with the root
// of ctx, and at the nearest limit of ours, where ctx is one of ours; ctx itself
// where it is not. It is for a callee that waits whatever happens: to wait on a
// context of the standard library, or to make children of it, costs less than
// to arm one of ours. [Ctx.Cancel] and [Ctx.Lift] are not seen there, and so
// must come after the callee's return. end frees what it holds.
func Standard(ctx context.Context) (standard context.Context, end context.CancelFunc) {
	c, ours := ctx.(*Ctx)
	if !ours {
		return ctx, func() {}
	}
	limit := c.nearest()
	if limit == forever {
		return context.WithCancel(c.root)
	}
	return context.WithDeadline(c.root, limit.Time())
}
