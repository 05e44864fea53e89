package middleware

import (
	"context"

	"github.com/backstay-go/backstay/internal/lazyctx"
)

// Limits are what bounds a request in time: its deadline, and its handler's
// timeout. They hold until the answer begins: what streams on is bounded by
// whoever listens. A nil *Limits notes nothing. They belong to one request;
// what [Admit] notes happens before its next is called.
type Limits struct {
	all [2]*lazyctx.Ctx
	n   int
}

// add notes the limit that ctx itself is, if it is one.
func (l *Limits) add(ctx context.Context) {
	if c, ok := ctx.(*lazyctx.Ctx); ok && l != nil {
		l.all[l.n] = c
		l.n++
	}
}

// Lift takes the limits off, so that from then on only the caller's leaving
// ends the request. It reports false where that comes too late: the request has
// ended already, or one of its limits has passed.
func (l *Limits) Lift() bool {
	for _, c := range l.all[:l.n] {
		if !c.Lift() {
			return false
		}
	}
	return true
}

// same reports whether two contexts are one and the same limit, or neither is
// one.
func same(a, b context.Context) bool {
	x, _ := a.(*lazyctx.Ctx)
	y, _ := b.(*lazyctx.Ctx)
	return x == y
}
