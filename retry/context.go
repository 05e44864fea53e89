package retry

import "context"

type (
	attemptKey    struct{}
	attemptsKey   struct{}
	repeatableKey struct{}
	suppressedKey struct{}
)

// Attempt returns the number of the attempt that ctx belongs to: 2 for the
// first retry. It is 1 also where ctx belongs to no attempt. A context is
// inherited: within attempt 2 of a call, the first attempt of a call nested in
// it has the number 2.
func Attempt(ctx context.Context) int {
	if n, ok := ctx.Value(attemptKey{}).(int); ok {
		return n
	}
	return 1
}

// WithAttempt returns a context whose calls belong to attempt n of a layer that
// retries by other means than a [Policy]: servers that they reach are told so.
// An n below 1 counts as 1.
func WithAttempt(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, attemptKey{}, max(n, 1))
}

// WithMaxAttempts returns a context whose calls make at most n attempts,
// whatever their policies say. An n below 1 counts as 1.
func WithMaxAttempts(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, attemptsKey{}, max(n, 1))
}

// Never returns a context whose calls are not retried.
func Never(ctx context.Context) context.Context { return WithMaxAttempts(ctx, 1) }

// maxAttempts returns what [WithMaxAttempts] put into ctx, or 0.
func maxAttempts(ctx context.Context) int {
	n, _ := ctx.Value(attemptsKey{}).(int)
	return n
}

// MarkRepeatable returns a context that says of its calls that they may be
// sent more than once, though their protocol does not promise it: a POST that
// the server is known to deduplicate. Protocols ask for the mark with
// [Repeatable]; use the context for the marked calls only.
func MarkRepeatable(ctx context.Context) context.Context {
	return context.WithValue(ctx, repeatableKey{}, true)
}

// Repeatable reports whether ctx carries the mark of [MarkRepeatable].
func Repeatable(ctx context.Context) bool { return ctx.Value(repeatableKey{}) != nil }

// Suppress returns a context that says that a layer above retries already: a
// server puts it under a request that arrived as a retry. Policies do not
// retry within it, unless [Config].RetryNested is set, because layers that
// retry multiply: three attempts in each of three make 27 calls of one.
func Suppress(ctx context.Context) context.Context {
	return context.WithValue(ctx, suppressedKey{}, true)
}

// Suppressed reports whether ctx carries the mark of [Suppress].
func Suppressed(ctx context.Context) bool { return ctx.Value(suppressedKey{}) != nil }
