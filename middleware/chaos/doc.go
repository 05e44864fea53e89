// Package chaos injects faults into a process's own calls, to find out whether
// its policies hold before a real outage does.
//
// # The problem
//
// A timeout, a retry, a fallback that was never exercised is a guess. Breaking
// a real dependency to find out breaks it for everybody; a fake that returns
// errors shows neither slow answers, nor bodies that end too early, nor silence,
// and its errors look like no network's.
//
// # The promise
//
// An [Injector] has a list of faults ([middleware.Fault]), from code or from a
// target's policy file, and injects them as the innermost layer of a call: what
// lies above sees what it would see in an outage.
//
//		latency    held up: fixed, uniform, normal or exponential, within bounds
//		error      an error that says nothing
//		refused    *net.OpError, ECONNREFUSED: known to be unsent
//		reset      *net.OpError, ECONNRESET
//		timeout    *net.OpError, i/o timeout
//		status     a response of its own, with headers and body
//		truncated  the body ends in io.ErrUnexpectedEOF
//		stalled    the body falls silent
//		black_hole no answer until the context ends
//
//	  - Nothing is injected but by a process that puts a [Transport] or a [Do]
//	    into its calls. There is a switch ([Injector.Disable]), and a fault ends
//	    by itself at its Until: calls that are held up then go on, also those in
//	    a black hole.
//	  - Every injected error carries the mark [*InjectedError], and is otherwise
//	    judged like a real one.
//	  - Every injected fault is told of: an event of kind
//	    [backstay.FaultInjected] with the attempt and the copy it happened to, and
//	    the report of the call ([backstay.Summary].Injected).
//	  - Faults are replaced as a whole, while calls are under way
//	    ([Injector.Set]).
//	  - No goroutine is started. Contexts are respected, request bodies closed.
//	  - A call without a fault costs no allocation; where the injector is off or
//	    has no faults, it costs one atomic load.
//	  - [Injector.Decide] is pure: the same time and the same random numbers give
//	    the same decision.
//
// # Defaults
//
//	switch       on; who wants no faults does not wrap
//	share        none: a fault must say it
//	from, until  at once, never; a policy file must say until
//	latency      fixed; else from 0 to ten times the mean, 1h at most
//	after        0 bytes of the body come through
//	random       rand.Float64
//
// # Example
//
//	target := live.Target("payments") // of policyfile.Watch
//	faults, err := chaos.New(target.Faults, chaos.WithScope(&backstay.Scope{Policy: target.Name, Observer: observer}))
//	...
//	transport, err := httpmw.NewTransport(chaos.NewTransport(nil, faults), target, httpmw.WithObserver(observer))
//	...
//	defer live.Bind("payments", transport.Pipelines(), faults)() // both follow the file
//
// With a httpmw.Router, httpmw.WithBase puts an injector below each target, and
// with a grpcmw.Router grpcmw.WithInner does; see docs/chaos.md.
//
// For gRPC, [Do] goes into an interceptor inside of those of package grpcmw;
// [WithError] makes a status of a network's error:
//
//	faults, err := chaos.New(target.Faults, chaos.WithError(func(e *chaos.InjectedError) error {
//		if errors.Is(e, context.DeadlineExceeded) {
//			return status.Error(codes.DeadlineExceeded, e.Error())
//		}
//		return status.Error(codes.Unavailable, e.Error())
//	}))
//	...
//	func(ctx context.Context, method string, in, out any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
//		md, _ := metadata.FromOutgoingContext(ctx)
//		host := (&grpcmw.Request{Target: cc.Target()}).Host() // stock:443 of dns:///stock:443
//		_, err := chaos.Do(ctx, faults, chaos.Request{Host: host, Path: method, Header: md},
//			func(ctx context.Context) (struct{}, error) { return struct{}{}, invoke(ctx, method, in, out, cc, opts...) })
//		return err
//	}
//
// # Pitfalls
//
//   - Faults in a policy file do nothing to a process that has no Injector below
//     its policies, and those of an Injector that is not bound to the file stay
//     as they were.
//   - A black hole without a deadline above it, and without an Until, hangs for
//     ever. That is what it is there to show.
//   - A fault of the kind reset or timeout is injected instead of sending. What
//     it cannot show is that the server did the work all the same.
//   - A response that has no body has none to truncate: it stays as it is, and
//     is not told of.
//   - Each attempt and each hedged copy is drawn for itself: with a share of
//     10 % and three attempts, one call in a thousand fails.
//   - A fault that names a header matches only where that header is known
//     inside of the policies.
//   - In a bubble of testing/synctest, make the Injector inside of it.
//
// # Not for
//
// Faults of servers, and of what is below a connection: lost packets, slow
// handshakes, full disks.
package chaos
