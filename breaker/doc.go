// Package breaker is a circuit breaker: it stops calling a backend that keeps
// failing.
//
// # The problem
//
// A backend that is down is asked all the same: every caller waits for its
// timeout, holding what it holds, and the backend is met by the whole load in
// the moment in which it might recover.
//
// # How it works
//
// Closed, it lets every call pass and remembers how the last ones ended. When
// too many of them failed or were slow it opens: for a while every call is
// rejected with an [OpenError], unsent and in well under a microsecond. When
// that time is over it is half-open: exactly [Config].Probes calls pass. If
// all succeed it closes; if one fails it opens again, for twice as long. An
// outage is ruled by sony/gobreaker, one machine of it for each opening; the
// closed state, which nearly every call meets, is this package's own.
//
// # The promise
//
//   - A healthy call costs some 20 ns, no allocation and no write to shared
//     memory, so that processors do not wait for each other.
//   - Half-open never has more than Probes calls under way. A probe that is
//     cancelled gives its place back, one that panics, leaves its goroutine or
//     fails opens the breaker again, and one that never returns loses its place
//     after a lease.
//   - A call reports to the state in which it began. Whatever it reports after
//     the breaker has moved on changes nothing; every opening has exactly one
//     event.
//   - The caller's own doing is neutral: a cancelled call counts neither way,
//     nor does a refusal by a bulkhead or a deadline of ours. The caller's
//     mistakes (400, 404, InvalidArgument) are successes of the backend. Only
//     an attempt that its caller's deadline cut after it had run for SlowAfter
//     is a failure, so that a black hole behind short deadlines is seen.
//   - Observers run outside every lock and may use the breaker.
//
// # Defaults
//
//	Window        20 calls (or TimeWindow, in 10 Buckets)
//	FailureRatio  0.5
//	MinCalls      10
//	Consecutive   off
//	SlowAfter     off
//	SlowRatio     off
//	OpenFor       5s, doubling to MaxOpenFor 60s
//	Probes        1
//	ProbeLease    30s
//
// The rules are alternatives: any of them opens the breaker. They are looked at
// when a call has failed or was slow; a healthy call never opens a breaker.
//
// # Example
//
//	b, err := breaker.New(breaker.Config{})
//	...
//	rate, err := breaker.Do(ctx, b, func(ctx context.Context) (Rate, error) {
//		return client.Rate(ctx, currency)
//	})
//	if errors.Is(err, breaker.ErrOpen) {
//		// nothing was sent
//	}
//
// [Do] wraps a plain function, [Run] a protocol's call, [Breaker.Allow] is for
// those who cannot wrap. A [Registry] keeps one breaker per host, so that one
// failing host does not shut off the others. [Breaker.ForceOpen],
// [Breaker.ForceClosed], [Breaker.MetricsOnly] and [Breaker.Reset] are for
// operators and drills.
//
// # Pitfalls
//
//   - One breaker for many backends opens for all when one fails: use a key.
//   - Errors are judged by [backstay.Classify]; mark the caller's mistakes with
//     [backstay.PermanentError], or they count as failures.
//   - Retry goes outside the breaker: then each attempt is counted, and a
//     rejection ends the retries.
//   - With few calls a breaker of ratios is slow to open; Consecutive is not.
//   - SlowRatio without a clock reading from outside costs two readings a call.
//
// # Not for
//
// Limiting concurrency or rate (see package bulkhead), hiding failures from
// the caller (see package fallback), or sharing state between processes: each
// process learns for itself.
package breaker
