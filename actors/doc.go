// Package actors makes work that outlives a process reliable: virtual actors
// over a log, with calls, tells and tail calls that are retried after a
// failure, in an order that is right.
//
//	type account struct{} // stands for the type of actors
//
//	var (
//		Account = actors.NewType[account]("account")
//		Deposit = actors.Declare[int, int](Account, "deposit")
//		balance = actors.NewValue[int](Account, "balance")
//	)
//
//	func deposit(ctx context.Context, self actors.Self[account], cents int) (int, error) {
//		b, err := balance.Get(ctx, self)
//		if err != nil {
//			return 0, err
//		}
//		return b + cents, balance.Set(self, b+cents)
//	}
//
//	node, err := actors.Open(ctx, actors.Config{}, memory.New(),
//		actors.Host(Account, actors.Settings{}, actors.Handle(Deposit, deposit)))
//	...
//	b, err := Deposit.Call(node.Context(ctx), Account.Ref("alice"), 100)
//
// # Words
//
// An actor is a type and an id. It exists as soon as it is called; whoever owns
// its partition of the type's log runs it, one method at a time. A method may
// call others and wait (Call, Go and Await), send without waiting (Tell), or
// end by handing its caller to another method (Tail, TailTo). While it waits,
// its actor takes in what its own calls call back, and nothing else.
//
// A step is a method from its beginning to its end or tail call. What it
// changed of its actor's values, its tells and its end become durable in one
// record, or not at all.
//
// Beside what waits: [Defer] leaves a method's answer to somebody else,
// [Method.Remind] lets a method run later, [Method.Result] asks what became of a
// call, and [List] and [Describe] look at actors without running anything.
//
// # Guarantees
//
//   - A request that was accepted ends: with a value, an error of the method, or
//     an error of this package. A failure of the process that runs it only
//     delays it: the next owner runs the step again.
//   - The effects of a step that are kept here (values, tells, nested calls,
//     reminders, the result) happen once.
//   - A step that has been recorded never runs again. In a chain of tail calls
//     only the last link can be retried: exactly one of the two is left to do.
//   - A caller is retried only after the fate of everything it called is
//     decided: nothing of an earlier attempt still runs beside it.
//   - From a step's first nested call to its end, and along a chain of Tail, its
//     actor runs nothing but what the step itself calls; also across a failure.
//   - Two requests from outside with the same idempotency key are one.
//   - A reminder fires once for every tick, never early.
//   - A query is never older than an answer that was given before it was asked.
//   - A deferred reply is given once, by who completed it first, or expires.
//
// # Not guaranteed
//
//   - That a method's code runs once. It runs at least once; what it does to the
//     world outside needs Self.IdempotencyKey or Self.FencingToken.
//   - That nested calls of a retried step run once: the retry calls again. A
//     tail call does not have that problem; a callee sees the same
//     IdempotencyKey again.
//   - That writes are undone: an error discards what was written since the last
//     record; what a nested call had committed stays. Read, call, and write
//     after the last call, or in a tail call.
//   - That a call did not run whose caller stopped waiting ([ErrUnanswered]).
//     [ErrExpired] means that nothing of it is recorded, and with
//     Settings.StrictBegin that it did not run.
//
// # Order
//
// Requests of one caller to one actor, one after the other, run in that order.
// Tells and calls from one partition to another arrive in the order in which
// they were recorded. A chain that hops partitions may be overtaken by what was
// sent later along a shorter way. Delayed tells take their place when they
// enter.
//
// # Defaults
//
//	attempts                 5, full jitter of package retry: four waits, together
//	                         0.75 s on average, 1.5 s at most
//	step timeout             30 s
//	busy timeout             30 s
//	idle instance            10 min
//	mailbox                  10,000 requests an actor
//	answers kept             5 min
//	depth of nested calls    64
//
// Sizes, encoded, are fixed; what is larger ends with [ErrTooLarge]:
//
//	argument                 900 KiB, with baggage
//	step                     900 KiB of what it writes, tells, publishes and calls,
//	                         from one record to the next
//	answer                   64 KiB, to a call from outside
//
// # Pitfalls
//
// Hand on the ctx that a method was given: a call made with another one is a
// new root, which waits until the calling method has ended; the busy timeout
// tells. Look at the error of Set and Remind, or see the step fail: what it
// meant to write is not there. Do not share an instance's fields with
// goroutines. Do not return before the goroutines that use Self have ended.
//
// # Not for
//
// Streams of data, large blobs, queries over many actors, and answers in
// microseconds: a call costs two records of the log.
package actors
