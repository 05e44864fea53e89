// Package deadline bounds whole calls, and carries the point in time at which
// nobody waits any more from service to service.
//
// # The problem
//
// A timeout on every hop does not add up: the user has gone after a second,
// and three services below still work, retry and queue for an answer that
// nobody will read. Work that nobody waits for is what overloads a service
// that is slow already.
//
// # The promise
//
// A call has one deadline, the earlier of the caller's and its own total. It
// is enforced here, seen by every layer below through the context, and told to
// the next service as the time that is left ([Inject]); the next service takes
// it up ([Extract]), no longer than its own cap, and refuses what can no
// longer end in time ([Need], [TooLateError]) before any work is done.
//
// # Defaults
//
//	Policy    Total    10s   the whole call: attempts, waits, reading the answer; NoTotal means none
//	          Reserve  0     taken off the caller's deadline for the way back
//	          Need     0     the least time in which it makes sense to begin
//	Incoming  Cap      60s   from a request's arrival, whatever its caller says; NoCap means none
//	          Minimum  0     the least time with which a handler begins
//	          Headers  x-backstay-timeout-ms
//
// # Example
//
// A client bounds its call and tells the server; the server takes it up:
//
//	policy, err := deadline.New(deadline.Config{Total: time.Second})
//	...
//	stock, err := deadline.Do(ctx, policy, func(ctx context.Context) (Stock, error) {
//		deadline.Inject(ctx, req.Header, deadline.BackstayTimeout(), 0)
//		return send(req.WithContext(ctx))
//	})
//
//	ctx, cancel, err := deadline.Extract(req.Context(), req.Header, incoming, arrived)
//	defer cancel()
//
// # Pitfalls
//
// Total also bounds the reading of a response's body, as the Timeout of an
// http.Client does. For streams that are meant to last, set NoTotal, or mark
// single calls with [Unbounded].
//
// What travels is a duration, not a point in time, because clocks of machines
// differ: the time a message spends on the wire is not counted.
//
// A header never extends a limit. One that cannot be read is ignored, and
// reported so that it can be counted.
//
// # Not for
//
// The bound of one attempt: see package timeout.
package deadline
