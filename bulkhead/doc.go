// Package bulkhead bounds how many calls are in flight at once.
//
// # The problem
//
// Calls to one slow dependency pile up until they hold all the goroutines,
// connections and memory of a program, and everything else that it does fails
// with them. On the other side, one busy client takes up all of a server.
//
// # The promise
//
//   - Never more than the limit is in flight. A permit is held until the call
//     has really ended, whatever its caller's timeout says, and comes back
//     exactly once: after a return, a panic, runtime.Goexit, or a cancellation
//     in the very moment in which the permit was given out.
//   - A refusal is quick and has had no effect anywhere: [FullError] matches
//     [ErrFull] and [backstay.ErrRejected]. A deadline that passes in the queue
//     is a refusal, too, and also matches context.DeadlineExceeded. A caller
//     who cancels gets its own cancellation back.
//   - Within a priority, calls are admitted in the order in which they came. A
//     heavy call at the head is not overtaken by lighter ones.
//   - A call that is admitted at once allocates nothing; under a fixed limit
//     without a rate it takes no lock and reads no clock either. A waiter costs
//     two small allocations, and no timer of its own.
//
// # Defaults
//
//	Limit                      64; Unlimited takes it away
//	MaxQueue                   0: refused at once
//	MaxWait                    0: until the caller's own deadline
//	HoldBody                   false: the permit comes back with the answer's head
//	Weighted                   false: every call weighs 1
//	Priorities                 off
//	  DefaultShare             0.9 of the limit
//	  SheddableShare           0.7 of the limit
//	Rate                       off
//	  Burst                    one second's worth, at least 1
//	Adaptive                   off
//	  Algorithm                gradient
//	  Min, Max                 4, 1024; starts from Limit
//	  Window                   100ms and 10 calls
//	  Tolerance                1.5 times the latency of an idle backend
//	  Remeasure                every 30s
//	  Decrease                 times 0.7 (aimd)
//
// # Example
//
//	b, err := bulkhead.New(bulkhead.Config{Limit: 20})
//	...
//	user, err := bulkhead.Do(ctx, b, func(ctx context.Context) (User, error) {
//		return client.Get(ctx, id)
//	})
//	if errors.Is(err, bulkhead.ErrFull) {
//		// nothing was sent
//	}
//
// # Which limit
//
// A fixed limit is the latency that is normal times the calls per second that
// are wanted (Little's law), and half as much again. Where that is not known,
// or changes with the number of replicas behind a name, an adaptive limit finds
// it: [Gradient] where latency rises before anything fails, [AIMD] where the
// backend says by itself that it has too much to do.
//
// A queue smooths bursts that are shorter than its longest wait. It cannot
// help against lasting overload: it then only adds its wait to every call.
//
// With priorities, [WithPriority] says in the context which calls are given up
// first. [Sharded] keeps tenants apart without a bulkhead for each.
//
// # Pitfalls
//
//   - A bulkhead around a retry holds its permit while the retry waits. Put it
//     inside, as package middleware does.
//   - A call under a bulkhead that makes another call under the same one can
//     wait for itself.
//   - With HoldBody, an answer that nobody closes keeps its permit for ever.
//   - A queue without MaxWait, asked by a context without deadline, waits for
//     as long as it takes.
//   - The rate is asked last, so that a call that is not sent spends nothing of
//     it; a call may therefore wait in the queue and then be refused by it.
//
// # Not for
//
// Exclusion (that is sync.Mutex), limits that several processes share, or
// fairness between more than a few classes of callers.
package bulkhead
