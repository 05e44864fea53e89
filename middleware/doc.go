// Package middleware puts the policies of Backstay together, in the one order
// in which they work.
//
// # The problem
//
// Each policy is easy; their composition is where outages come from. A retry
// inside a breaker hides failures from it, a breaker behind a queue lets calls
// to a dead host wait for their refusal, a permit that is held through a
// backoff is a limit on patience instead of on load, a timeout that begins
// before the queue blames the backend for it, and a fallback inside a retry
// answers calls that another attempt would have saved. Nor does one policy
// know what the other is set to.
//
// # The promise
//
// A [Target] says what protects the calls to one dependency: data, checked as
// a whole. [New] makes a [Pipeline] of it, [NewRegistry] one for each key, such
// as a host. The order is fixed, outermost first:
//
//	fallback       sees everything that fails below, our own refusals included
//	deadline       bounds the call: all attempts, all waits, all queues
//	idempotency    one key a call, the same in every attempt
//	retry, budget  waits hold no permit
//	hedge          a race of copies is one attempt
//	breaker        refuses before anything is queued; a refusal is final
//	bulkhead       a permit an attempt; a full one says nothing of the backend
//	timeout        begins after the queue
//	the call
//
// On top of what the policies promise by themselves:
//
//   - A call that succeeds at once, and whose own deadline comes before the
//     attempt timeout, allocates nothing and reads the clock once ([Do]).
//   - A failed call ends in the backend's own last answer or error, or in a
//     refusal that matches [backstay.ErrRejected].
//   - Whatever ends an attempt, a panic and runtime.Goexit included, its permit
//     and its probe come back, and it reaches the caller's own goroutine.
//   - Each call, attempt, copy, refusal and change of state is told once: to the
//     call's report ([backstay.WithReport]), to observers and tracers
//     ([WithObserver]). These may panic.
//   - Calls that are made within a call have reports of their own.
//   - The state of a [Registry] is bounded: a key takes less than 300 bytes
//     while all is well, and idle ones are given up, but never one with an open
//     breaker or with attempts under way.
//   - [Registry.Apply] puts another target in force while calls go on: none
//     fails for it, and what did not change keeps its state.
//   - [Pipeline.Close] returns when no goroutine of ours is left.
//
// Who needs another order nests the packages' own Do functions.
//
// # Presets and defaults
//
// A section that is missing leaves its policy out; an empty one switches it on
// with the defaults of its package.
//
//	deadline     10s for the call                             every preset
//	retry        3 attempts, full jitter from 100ms to 2s,    every preset
//	             budget of 10 % and a burst of 3
//	breaker      half of the last 20 failed; open 5s to 60s   every preset
//	bulkhead     64 in flight, nobody waits                   every preset
//	timeout      2s an attempt                                every preset
//	propagate    hosts told of deadline and attempt           Internal, Reads: all
//	hedge        after p95 of the successes, 5 % of calls     Reads
//	fallback     rungs are code, see NewLadder                no preset
//	idempotency  states that the target honours keys          no preset
//	keys         10,000, given up after 10min of rest         every preset
//
// Between sections, the breaker's SlowAfter is half the attempt timeout unless
// set, and a probe keeps its place for as long as its attempt may take. What
// cannot work together is a fault, named with both values: an attempt or a
// queue that outlasts its call, a slow rule beyond the attempt's end, a copy
// that could only be sent after it, a copy without a second permit.
//
// # Example
//
//	payments, err := middleware.New(middleware.Standard("payments"))
//	if err != nil {
//		return err // every fault at once, each with its path
//	}
//	defer payments.Close(ctx)
//	receipt, err := middleware.Do(ctx, payments, func(ctx context.Context) (Receipt, error) {
//		return client.Charge(ctx, order)
//	})
//	if errors.Is(err, backstay.ErrRejected) {
//		// nothing was sent
//	}
//
// # Which function
//
//	Do           on the caller's goroutine; never hedges, never abandons
//	DoOr         the same, with a ladder of fallbacks
//	Race         hedges and abandons, where the target says so
//	Run, RunAt   for protocols: requests that are forked, judged, discarded
//
// # What it costs
//
// Allocations of a success under Standard, in the tests' own measure: none
// where the caller's deadline comes first, 4 where our own bounds are put on, 1
// more with a report, 3 more with an observer. Race allocates 5 with the preset
// Reads, 7 where a copy stands by.
//
// # Pitfalls
//
//   - [Do] calls its function again after any failure that is not marked: mark
//     the caller's own mistakes with [backstay.PermanentError], and do not put
//     what must not run twice into it.
//   - A [Pipeline] is made once and used for all calls. One a call protects
//     nothing.
//   - The breaker and the budget of a pipeline are those of all its calls: use a
//     Registry where there is more than one backend behind a name. Keys come
//     from a bounded set, never from raw paths.
//   - The total deadline includes our own queue and all waits. It is the time
//     that the caller is willing to wait, not the time that the backend needs.
//   - An abandoned attempt holds its permit until it has really ended; enough of
//     them fill the bulkhead, which is its purpose.
//   - A pipeline within a pipeline retries what is retried already: nine
//     attempts. Put the retry into one of them.
//
// # Not for
//
// HTTP and gRPC clients, which middleware/httpmw and its siblings protect
// through this package; durable work that outlives the process.
package middleware
