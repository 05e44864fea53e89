package middleware

import (
	"context"
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

// Relay carries a "do not retry" from the calls that a handler makes to the
// answer that it gives, in protocols whose handlers return no error that could
// do so. The latest call that failed decides. It is itself the context under
// which its calls are found, so that a request pays for one thing only. Its
// methods may be called from several goroutines.
type Relay struct {
	context.Context //nolint:containedctx // it is one
	final           atomic.Bool
}

type relayKey struct{}

// Under returns a context with the values and the end of ctx, whose calls tell
// r how they failed. It must be called before r is used, once.
func (r *Relay) Under(ctx context.Context) context.Context {
	r.Context = ctx
	return r
}

// Value returns r itself to [RelayFrom], and what its context has otherwise.
func (r *Relay) Value(key any) any {
	if key == (relayKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// RelayFrom returns the Relay of ctx, or nil.
func RelayFrom(ctx context.Context) *Relay {
	r, _ := ctx.Value(relayKey{}).(*Relay)
	return r
}

// Note notes that a call has failed, and how.
func (r *Relay) Note(o backstay.Outcome) { r.final.Store(Forbids(o)) }

// Final reports whether the latest call that failed must not be retried, here or above.
func (r *Relay) Final() bool { return r.final.Load() }

// Forbids reports whether an end like o says that another attempt would meet
// the same: a server asked not to be retried, or a policy refused and does not
// know for how long.
func Forbids(o backstay.Outcome) bool {
	return o.Final || (o.Class == backstay.Rejected && o.RetryAfter == 0)
}
