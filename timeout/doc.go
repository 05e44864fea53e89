// Package timeout bounds one attempt in time.
//
// # The problem
//
// A backend that does not answer holds its caller's goroutine, memory and
// connection for as long as the caller is willing to wait, and the caller's
// own deadline may be far away. Without a bound on the single attempt there is
// no time left for another one.
//
// # The promise
//
// An attempt that has not answered after its limit is cancelled, and ends with
// an [Error] that nobody can mistake for the caller's own deadline. The limit
// covers the time to the response headers or to the reply; once an answer has
// begun, the limit is off and a body may stream for as long as it likes. Where
// the caller's own deadline comes first, there is no limit and no cost.
//
// # Defaults
//
//	After    2s   Off means none; With changes it for one call
//	Abandon  off  the attempt is waited for after its cancellation
//
// # Example
//
//	policy, err := timeout.New(timeout.Config{After: 300 * time.Millisecond})
//	...
//	user, err := timeout.Do(ctx, policy, func(ctx context.Context) (User, error) {
//		return client.User(ctx, id)
//	})
//	if errors.Is(err, timeout.ErrTimeout) {
//		// this attempt was too slow; the caller may have time for another
//	}
//
// # Cost
//
// One small allocation, and a clock reading at the end. The timer is started
// when somebody first waits on the attempt's context: a callee that never
// waits on it never pays for one.
//
// # Pitfalls
//
// A callee that ignores its context is waited for, beyond the limit. Abandon
// returns at the limit whatever the callee does, for the price of a goroutine
// a call; what the callee holds stays held, so put a bulkhead around it.
//
// An answer that arrives after the limit is an [Error] too, so that whether it
// counts does not depend on chance.
//
// # Not for
//
// The bound of a whole call with its retries, and what travels to the server:
// see package deadline. A body that falls silent: see the idle body timeout of
// middleware/httpmw.
package timeout
