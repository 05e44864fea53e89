package hedge

import (
	"context"

	"github.com/backstay-go/backstay"
)

// Hedger is implemented by an Exchange that knows requests which must not be
// sent twice at the same time. Hedge returns nil if q may have a second copy,
// and otherwise the reason why not: an unsafe method without a mark, a body
// that cannot be read again, a stream. Without a Hedger every request may.
//
// It is a stricter question than Exchange.Repeat: a losing copy of a write may
// take effect after the caller's next write.
type Hedger[Q any] interface {
	Hedge(q Q) error
}

func mayHedge[Q, R any](x backstay.Exchange[Q, R], q Q) bool {
	h, ok := x.(Hedger[Q])
	return !ok || h.Hedge(q) == nil
}

type (
	markKey  struct{}
	neverKey struct{}
)

// Mark returns a context that declares its calls safe to hedge although they
// write, such as a PUT, a DELETE or a POST with an idempotency key. The mark
// is for the [Hedger] of a protocol to judge.
func Mark(ctx context.Context) context.Context { return context.WithValue(ctx, markKey{}, true) }

// Marked reports whether ctx carries the [Mark].
func Marked(ctx context.Context) bool { return ctx.Value(markKey{}) != nil }

// Never returns a context whose calls are not hedged, marked or not.
func Never(ctx context.Context) context.Context { return context.WithValue(ctx, neverKey{}, true) }

func never(ctx context.Context) bool { return ctx.Value(neverKey{}) != nil }
