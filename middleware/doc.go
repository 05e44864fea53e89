// Package middleware puts the policies of Backstay around calls, all of them
// or some, in the one order in which they work together.
//
// # The problem
//
// Each policy is simple, and most orders of them are wrong: a retry inside a
// bulkhead's permit holds it through the backoff, a breaker inside a queue lets
// calls wait for a refusal, a timeout around a queue counts our own waiting
// against the backend, and a fallback inside a retry hides the failure from it.
//
// # The promise
//
//   - The order is fixed, outermost first: fallback, total deadline, retry,
//     hedge, breaker, bulkhead, attempt timeout, call. Whoever needs another
//     nests the packages' own Do.
//   - What is configured is data: a [Target]. All its faults are reported at
//     once, each with its path, also those that only show between policies.
//   - A [Registry] has one [Pipeline] for each key, such as a host, so that one
//     in trouble does not cost the calls to another. The number of keys is
//     bounded; state that matters is never given up.
//   - What a call went through is in backstay.Report; an observer is told of
//     every event, a tracer puts a span around the call and each attempt.
//   - A call that goes well stays on its caller's goroutine, and [Do] costs no
//     allocation where the caller's deadline comes before the attempt timeout.
//   - After Close nothing is left behind: late copies and abandoned attempts
//     are waited for.
//
// # Defaults
//
// [Standard] has a total deadline, retries with a budget, a breaker, a bulkhead
// and an attempt timeout; [Internal] also tells the hosts of the deadline and
// the attempt; [Reads] also hedges. Each section has the defaults of its own
// package, and those that depend on another section:
//
//	Breaker.SlowAfter   half of Timeout.After, for attempts that the caller's deadline cut
//	Breaker.ProbeLease  30s, or as long as an attempt may take
//	Keys                10,000; idle ones are given up after 10min
//
// # Example
//
//	pipeline, err := middleware.New(middleware.Standard("payments"))
//	if err != nil {
//		return err // every fault at once, with its path
//	}
//	receipt, err := middleware.Do(ctx, pipeline, func(ctx context.Context) (Receipt, error) {
//		return bank.Charge(ctx, order)
//	})
//
// # Pitfalls
//
//   - One pipeline is for one dependency. Two behind one breaker shut each
//     other off.
//   - [Do] and [DoOr] neither hedge nor abandon, whatever is configured: that
//     takes goroutines. [Race] does both.
//   - A pipeline with retries says that a function may run more than once; see
//     retry.Do.
//
// # Not for
//
// HTTP and gRPC as they come: middleware/httpmw and its siblings put a registry
// under a client, and know which requests may be repeated.
package middleware
