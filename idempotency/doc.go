// Package idempotency makes it safe to send a request twice.
//
// # The problem
//
// A client that gets no answer cannot know whether its POST took effect. If it
// sends the request again, a card may be charged twice; if it does not, perhaps
// never. The same holds for a broker that delivers a message again. The way
// out is a key: the client makes it once for each thing that it wants, sends it with
// every copy of the request, and the server does the work once per key.
//
// # The promise
//
// On the client's side a [Policy] sees to it that a call has a key, the same on
// every retry and hedge. The caller's own key ([WithKey]) wins; otherwise one
// is made, if the target is known to honour keys. Within work that is itself
// keyed the keys that are made follow from that of the work, so that a second
// run makes the same again; [Derive] does so by name.
//
// On the server's and the consumer's side a [Guard] runs work once per key:
//
//   - A repetition gets the first answer, byte for byte. One that comes while
//     the first is still at work waits for it (or is told to come back).
//   - A key that comes back with another payload is refused, at once.
//   - Work that fails, panics, or is answered by [KeepNothing], frees its key.
//   - An owner that is killed blocks its key for a lease of seconds, while an
//     answer is kept for a day. A stale owner can change nothing: it is fenced
//     off by its token, and told through the context of its work.
//   - Work goes on for a while after its caller has hung up, so that the caller
//     finds the answer when it comes back.
//
// What is known of keys lives in a [Store]: [Memory] for one process, or one
// that many processes share. Package idempotencytest is the suite that every
// store passes. A Guard knows no protocol: what speaks one puts a Guard in
// front of its handlers, and [Do] serves consumers of messages.
//
// The guarantee is "once" as far as the store lives, the lease is renewed, and
// the answer can be stored. A process that dies between the effect and its
// record leaves a key that is free after the lease: an effect outside the
// store needs a key of its own (see Derive), or one transaction with it.
//
// # Defaults
//
//	Policy   Generate       off            no key is made, the caller's own is sent
//	         Header         Idempotency-Key
//	         Bare           off            quoted, as a structured-field string
//	Guard    Required       off            work without a key is done, unprotected
//	         Lease          30 s           renewed every 10 s
//	         Retention      24 h           from the end of the work
//	         MaxWait        60 s           NoWait refuses at once
//	         RetryAfter     1 s            told with refusals that are worth coming back for
//	         Grace          5 s            NoGrace ends work together with its caller
//	         Poll           250 ms         for stores that cannot wake who waits
//	         MaxBody        1 MiB          larger bodies are refused
//	         MaxAnswer      256 KiB        of larger answers only a mark is kept
//	Memory   MaxRecords     100,000        a full store refuses new keys
//	         MaxBytes       64 MiB
//
// # Errors
//
// Every refusal is an [*Error] that matches one of these; the codes of gRPC are
// those that a server answers with. Its text is for the operator; a caller is
// given [Error.Told], which names neither the guard nor the cause.
//
//	                    HTTP                class       gRPC
//	ErrKeyMissing       400                 permanent   INVALID_ARGUMENT
//	ErrKeyInvalid       400                 permanent   INVALID_ARGUMENT
//	ErrMismatch         422                 permanent   INVALID_ARGUMENT
//	ErrInFlight         409 + Retry-After   transient   ABORTED
//	ErrLeaseLost        409 + Retry-After   transient   ABORTED
//	ErrAnswerNotKept    409                 permanent   ALREADY_EXISTS
//	ErrBodyTooLarge     413                 permanent   INVALID_ARGUMENT
//	ErrStoreFull        503 + Retry-After   rejected    UNAVAILABLE
//	ErrStoreFailed      503                 transient   UNAVAILABLE
//
// # Example
//
//	guard, err := idempotency.NewGuard(idempotency.GuardConfig{}, store)
//	...
//	body, fingerprint, err := guard.ReadBody(r.Body, r.Method, route, principal)
//	...
//	answer, replayed, err := guard.Run(ctx, idempotency.Request{
//		Key: key, Scope: []string{tenant, route}, Fingerprint: fingerprint,
//	}, func(ctx context.Context) (idempotency.Answer, error) { ... })
//
// # Pitfalls
//
//   - Put who is asking into Scope or the fingerprint. Otherwise one tenant who
//     guesses the key of another is given the answer of the other.
//   - A context with a key gives it to every call made with it. Work that makes
//     several calls derives a key for each. The key that a Guard got is not
//     passed on by itself: see [IncomingKey].
//   - The keys that a Policy makes within keyed work go by the order of its
//     calls to one target, method and path: see [Ensure]. Calls that are made
//     at once, or only sometimes, want a key by name. Where the order differs
//     from run to run, the callee refuses with [ErrMismatch], or, where two
//     calls are the same in every byte, takes the one for the other.
//   - The answer must be complete when work returns, and be judged honestly: a
//     500 that is kept is replayed for a day.
//   - The owner of a key gets its answer even where it could not be stored; the
//     observer is told. Watch for [AnswerNotKept].
//   - Memory is bounded and never drops what is alive: new keys a second times
//     the retention in seconds must fit into MaxRecords.
//
// # Not for
//
// Reads, which may be repeated anyway; streams, which have no answer that could
// be kept; caching, since a key stands for one request and not for a question;
// mutual exclusion in general, since a lease can be lost while the work goes on.
package idempotency
