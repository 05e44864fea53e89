package chaos

import (
	"context"

	"github.com/backstay-go/backstay/middleware"
)

// Do calls f, with the faults that i injects into the call r; those of the
// zero Request are the ones that match everything. It is for calls that are not
// HTTP: put it inside of the policies.
//
// Where there is no response, a fault of the kind status ends in an error
// whose [InjectedError] has the Status. One of the kind truncated or stalled
// calls f, and takes its answer away: it ends in an unexpected EOF, or holds
// the answer back until ctx ends.
//
// f runs on the caller's goroutine, at most once. Where nothing is injected,
// Do allocates nothing.
func Do[T any](ctx context.Context, i *Injector, r Request, f func(context.Context) (T, error)) (T, error) {
	c, faulty := i.faulty(r)
	if !faulty {
		return f(ctx)
	}
	return inject(ctx, c, f)
}

func inject[T any](ctx context.Context, c injection, f func(context.Context) (T, error)) (r T, err error) {
	hit, err := c.before(ctx)
	switch {
	case err != nil:
		return r, err
	case hit == nil:
		return f(ctx)
	case hit.Fault.Kind == middleware.FaultStatus:
		return r, c.answered(hit.Fault)
	}
	if r, err = f(ctx); err != nil {
		return r, err
	}
	if err = c.takeAway(ctx, hit); err != nil {
		var none T
		return none, err
	}
	return r, nil
}

// takeAway is what hit does to the answer of a plain function.
func (c *injection) takeAway(ctx context.Context, hit *Injected) error {
	e := mark(hit.Fault)
	if hit.Latency == 0 {
		c.tell(ctx, hit, e)
	}
	if hit.Fault.Kind == middleware.FaultTruncated {
		return c.failure(e, c.host)
	}
	return c.stall(ctx, hit.Fault, nil)
}
