package deadline

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
)

// Remaining returns how long ctx has left, negative if its deadline has
// passed; ok is false if it has no deadline.
func Remaining(ctx context.Context) (d time.Duration, ok bool) {
	end, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	return time.Until(end), true
}

// Reserve returns a context whose deadline is margin earlier than that of ctx,
// so that an answer still has time for the way back. Without a deadline, or
// with a margin of zero or less, it only adds a cancel. Call cancel on every
// path.
func Reserve(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok || margin <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-margin))
}

// Need returns nil if ctx leaves at least estimate for a piece of work, and
// otherwise a [TooLateError]: begin nothing that cannot end in time. A context
// that was canceled returns its own error.
func Need(ctx context.Context, estimate time.Duration) error {
	left, ok := Remaining(ctx)
	switch {
	case ok && (left < estimate || left <= 0):
		return &TooLateError{Remaining: left, Need: estimate}
	default:
		return backstay.ContextError(ctx)
	}
}
