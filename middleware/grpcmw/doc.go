// Package grpcmw puts the policies of Backstay under a grpc.ClientConn, and
// between a grpc.Server and its handlers.
//
//	client, err := grpcmw.NewClient(middleware.Internal("stock"), grpcmw.WithReads("/stock.v1.Stock/Get"))
//	if err != nil {
//		return err
//	}
//	conn, err := grpc.NewClient("dns:///stock:443", append(client.DialOptions(), credentials)...)
//
// and on the other side, with a store for its idempotency keys,
//
//	server, err := grpcmw.NewServer(live.Server(), grpcmw.ServerStore(store)) // of policyfile.Watch
//	if err != nil {
//		return err
//	}
//	defer live.BindServer(server)()
//	s := grpc.NewServer(append(server.ServerOptions(), credentials)...)
//
// # The problem
//
// gRPC carries deadlines, and can retry by its service config. It cannot stop
// calling what is down, bound what is in flight, bound its retries by a budget
// that holds for a quiet caller too, overtake a slow read, or answer in another
// way. Interceptors that do these tend to hand one reply message to two
// attempts, to replay half a stream, or to retry what the server asked them to
// leave alone.
//
// # The promise, for clients
//
//   - An RPC is sent again only if it may be: its .proto says so
//     (idempotency_level), an option names it, it carries an idempotency key,
//     its caller marked it (retry.MarkRepeatable), its target is idempotent, or
//     it never reached a connection. gRPC itself knows no safe methods, so
//     without one of these it is sent once.
//   - No two attempts share a reply message, header, trailer or peer, and what
//     may outlive its call (late copies, abandoned attempts, refreshes) shares
//     nothing with its caller, the request's message included.
//   - A stream is opened again, with its one request, until the server first
//     answers it; nothing that its caller has seen is ever replayed.
//   - The server's word counts: grpc-retry-pushback-ms exactly, RetryInfo at
//     least, "do not retry" in all its forms.
//   - Every error satisfies status.FromError: the backend's own last status,
//     word for word, or for a refusal UNAVAILABLE or DEADLINE_EXCEEDED; and
//     errors.Is finds what it is: breaker.ErrOpen, bulkhead.ErrFull,
//     backstay.ErrRejected.
//   - The caller's metadata and request are not changed. Servers are told
//     grpc-previous-rpc-attempts on repetitions and hedged copies; hosts of the
//     target's Propagate section x-backstay-attempt as well.
//   - What grpc-go itself refuses to send, such as text that is not UTF-8, is
//     the caller's mistake: neither repeated nor held against the backend.
//   - Health checks and reflection pass untouched.
//
// A [Router] is for all the targets of a policy file: it finds the one that an
// RPC belongs to, has a Client for each, and takes up a new version of the file
// with the next RPC.
//
//	live, err := policyfile.Watch(ctx, "policies.yaml")
//	if err != nil {
//		return err
//	}
//	router, err := grpcmw.NewRouter(live)
//	if err != nil {
//		return err
//	}
//	conn, err := grpc.NewClient("dns:///stock:443", append(router.DialOptions(), credentials)...)
//
// # The promise, for servers
//
//   - An RPC whose deadline leaves less than the minimum is refused before its
//     handler runs; so is one for which there is no room, those of low priority
//     first. Such refusals forbid a retry, and so does what a server below has
//     forbidden. A full server forbids it here, and over HTTP invites one by
//     Retry-After: the retries of grpc-go know no such wait, other than one that
//     is exact and brings all callers back in the same instant.
//   - A handler whose RPC is a retry does not retry downstream itself.
//   - A unary RPC with an idempotency key is worked on once; a repetition gets
//     the first answer, message, status and metadata, marked
//     idempotent-replayed: true.
//   - A unary handler that is not done by its Timeout is answered for, also where
//     it ignores its context. Its permit stays with it until it returns.
//   - A panic is one INTERNAL answer that says nothing of the panic, which the
//     observer is told of with its stack, and frees permit and key.
//   - Refusals, also those of calls that a handler makes and returns, say what
//     they are in a sentence of their own, and in a google.rpc.ErrorInfo of the
//     domain backstay: BULKHEAD_FULL, TOO_LATE, STORE_FAILED. Their full text,
//     which may name hosts and limits, is for the observer.
//
// # Defaults
//
//	policies         those of the target; see middleware.Standard
//	key              the endpoint of the connection; see ByService, ByMethod
//	repeatable       what the .proto says; WithReads, WithIdempotent add to it
//	retried codes    UNAVAILABLE; RESOURCE_EXHAUSTED with a server's wait;
//	                 ABORTED with one for a keyed call; see WithRetryable
//	key metadata     idempotency-key, quoted
//	streams          the attempt timeout bounds the search for a connection, and
//	                 see WithFirstAnswer; no total deadline, no fallback, no hedge
//	grpc-go's retry  off beside retries of ours; its transparent ones stay
//	server           nothing without a section, see middleware.Server; Deadline
//	                 caps unary RPCs at 60s, Timeout is for them alone;
//	                 [Server.Apply] puts another one in force
//	kept answers     OK, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS,
//	                 FAILED_PRECONDITION, OUT_OF_RANGE
//
// # Beside other interceptors
//
// Instruments that are stats handlers, such as otelgrpc's, see every attempt as
// an RPC, under the context that a [backstay.Tracer] gave it. Interceptors that
// follow in the chain act on every attempt, those before it on every call. A
// Client whose interceptors are installed by hand, without
// [Client.DialOptions], needs grpc.WithDisableRetry where a service config has
// a retryPolicy: the two would multiply. So do two Clients, or a Client and a
// Router, on one connection: give it one.
//
// # Pitfalls
//
// A stream holds its permit, and a half-open breaker's place, until the server
// first answers it. Name streams that may be silent for long by
// [WithPassThrough], or have the server send its header at once.
//
// What fails after the first answer of a stream is seen by neither retry nor
// breaker.
//
// A request's message must not be changed before its call has returned, and
// one that was sent on a stream not at all, as ever in gRPC.
//
// What the caller's reply holds after a call that failed is not defined, as
// ever in gRPC. A reply that is not a pointer cannot be made again, so its call
// is sent once. A request that is no protobuf message is copied by the codec
// that the call names; where none can, the call is neither hedged nor
// abandoned, and a stale reply to it not refreshed.
//
// What grpc-go refuses by its limit for received messages looks like a server
// that is overloaded, RESOURCE_EXHAUSTED; [WithClassifier] can tell them apart.
//
// grpc-go repeats by itself, once, an RPC that a server has not looked at.
// Such repetitions are neither counted nor bounded by the budget.
//
// The context of keyed work outlasts its caller, the cap and the timeout by the
// grace of the guard: 5s, and no longer than Timeout and cap. While such a
// handler hangs it holds its permit. Set Grace, or idempotency.NoGrace, where
// that is too long.
//
// The answers of keyed RPCs are given again by their type: a program that
// replays them must link the package of the message.
//
// # Not for
//
// Load balancing, name resolution and health-based picking, which grpc-go does
// below; authentication, which belongs before a [Server] and below a [Client].
package grpcmw
