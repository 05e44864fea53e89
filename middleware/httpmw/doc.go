// Package httpmw puts the policies of Backstay under an http.Client, and between
// an http.Server and its handlers.
//
//	transport, err := httpmw.NewTransport(http.DefaultTransport, middleware.Standard("payments"))
//	if err != nil {
//		return err
//	}
//	client := &http.Client{Transport: transport}
//
// # The problem
//
// An http.Client waits as long as its caller does, sends to a host that has
// been down for an hour as readily as to any other, and tries once. What is
// written by hand around it tends to lose response bodies (and with them
// connections), to send a POST twice, to retry into an outage, or to cut a
// download by the timeout that was meant for its headers.
//
// # The promise
//
// [Transport] is an http.RoundTripper that keeps the contract of one: the
// caller's request is not changed, its body is closed once on every path, a
// response never comes beside an error. Each host has a pipeline of its own
// ([WithKey] for anything finer), in a registry of bounded size.
//
//   - A request is sent again only if it may be: its method is idempotent, it
//     carries an idempotency key, it never reached the server, or its caller
//     marked it (retry.MarkRepeatable). CONNECT, Upgrade and what came after
//     101 Switching Protocols never is.
//   - A body is made again by GetBody, or else remembered while it streams, up
//     to the replay limit; the first bytes flow at once in any case.
//   - Where the last attempt had a response, that is returned, whatever its
//     status. Errors are failures of the network, or refusals that match
//     backstay.ErrRejected.
//   - Answers that nobody will see are drained within bounds, so their
//     connections are used again.
//   - The attempt timeout ends at the headers: bodies and event streams are not
//     cut by it.
//   - HTTP/2, trailers, Expect: 100-continue, redirects, cookies and
//     httputil.ReverseProxy work as without it.
//
// A [Router] is an http.RoundTripper for all the targets of a policy file: it
// finds the one that a request belongs to, has a Transport for each, and takes
// up a new version of the file with the next request.
//
//	live, err := policyfile.Watch(ctx, "policies.yaml")
//	if err != nil {
//		return err
//	}
//	router, err := httpmw.NewRouter(http.DefaultTransport, live)
//
// # The promise, for servers
//
// A [Handler] stands in front of another one:
//
//	handler, err := httpmw.NewHandler(mux, middleware.StandardServer("orders"))
//	if err != nil {
//		return err
//	}
//	server := &http.Server{Addr: ":8080", Handler: handler}
//
// It does, in this order, what its [middleware.Server] has a section for.
// [Handler.Apply] puts another one in force for the requests that come then.
//
//   - Deadline: a request whose caller waits too short a time is answered 504
//     before its handler runs, and the others end when their callers stop
//     waiting, or at the cap. Time in the server's own queue counts.
//   - Bulkhead: where there is no room, 503 with Retry-After, those of low
//     priority first. A permit is held until the handler returns. It invites a
//     retry, because HTTP clients that honour the header wait, within the bounds
//     of their budget; over gRPC a full server forbids one (see grpcmw).
//   - Timeout: a handler that has not begun its answer in time is answered for
//     by 503, once, even if it ignores its context. What it writes afterwards
//     goes nowhere, and its permit stays with it.
//   - Idempotency: a request with a key is worked on once. Its repetition gets
//     the first answer, status, headers and body, marked Idempotent-Replayed:
//     true; one that comes meanwhile waits for it; another request under the
//     same key is told 422. What ended in a panic, in 5xx, or says who asked (401,
//     403, 407) or how busy it was (408, 425, 429) frees the key.
//   - A handler whose request is a retry (X-Backstay-Attempt above 1) does not
//     retry downstream. What a service below has forbidden to retry, and what an
//     open breaker of ours has refused, is passed upward: an answer of the
//     handler that invites a retry gets X-Backstay-Retry: never. So do refusals
//     for want of time.
//
// Deadline, cap and timeout hold until the answer begins: the first Write, Flush,
// final WriteHeader or Hijack lifts them, so that downloads, event streams and
// WebSockets are not cut. From then on the request lives as long as its caller
// stays. Requests that ask for an upgrade have no cap and no timeout at all.
//
// Answers of the Handler itself are problems of RFC 9457, whose detail and reason
// name the kind of the refusal, and nothing of what is behind the server: that is
// for the observer. [WriteError] makes the same of the errors of calls. A panic of a handler, http.ErrAbortHandler too,
// reaches net/http on the serving goroutine, and frees permit and key. Where an
// answer has begun that cannot be completed, the connection is cut, so that half
// of it is not taken for all.
//
// ServeMux patterns, trailers, Early Hints, Expect: 100-continue, HEAD,
// http.ResponseController, http.MaxBytesReader, httputil.ReverseProxy and HTTP/2
// work as without it.
//
// # Defaults, for clients
//
//	policies        those of the target; see middleware.Standard
//	key             the host of the URL
//	ReplayLimit     64 KiB of a request's body that has no GetBody
//	IdleBody        off: a response's body may be silent for ever
//	DrainLimit      512 KiB, DrainTime 50ms
//	Propagate       nobody is told of deadline and attempt; middleware.Internal tells all
//	judgement       see Classify
//
// # Defaults, for servers
//
//	Deadline        cap 60s, minimum 0, x-backstay-timeout-ms
//	Timeout         off
//	Bulkhead        64 at once; under middleware.StandardServer it adapts
//	Retry-After     1s of a full server; of a rate, when it allows another
//	keyed           POST, PATCH, PUT, DELETE; reads never; required of POST,
//	                PATCH and methods of one's own alone
//	key             Idempotency-Key, quoted or bare, 1 to 255 characters
//	counts for      tenant (none) and route (the pattern, else the path); no host
//	compared        method, path with query, tenant, body
//	largest body    1 MiB, more is answered 413
//	grace           5s, and no longer than Timeout and cap; see middleware.Server
//	kept answer     256 KiB, larger ones are given once and then 409
//	headers         what cannot be read is ignored and told to the observer
//
// # Pitfalls, for servers
//
// Without a Timeout the end of the context is the handler's to obey. One that
// returns without a word because of it is answered for by 504; what it writes
// itself stands, however late.
//
// A Timeout costs a goroutine a request. Handlers that were left behind are
// bounded by the bulkhead alone.
//
// A keyed answer is held back until the handler has returned and its answer is
// kept, unless it is flushed or too large. Provisional answers and Hijack are not
// for keyed requests.
//
// The context of keyed work outlasts its caller, the cap and the timeout by the
// grace of the guard, so that a caller that comes back finds its answer. While
// such a handler hangs it holds its permit, and its calls downstream have that
// much more time. Set Grace, or idempotency.NoGrace, where that is too long.
//
// Name tenants wherever keys come from more than one: see [ServerTenant].
//
// http.MaxBytesReader does not close the connection by itself behind a Handler,
// as behind any other ResponseWriter than net/http's own: net/http reads on for
// 256 KiB and closes it then.
//
// Health checks that must be answered when nothing else is belong beside the
// Handler, not behind it.
//
// # Pitfalls, for clients
//
// The total deadline also bounds the reading of the body. Event streams and
// long downloads want deadline.NoTotal in their target, and IdleBody.
//
// Do not set http.Client.Timeout as well: it is one more deadline, which starts
// before redirects and which the report cannot tell from the caller's.
//
// A key from a raw path makes one breaker for each user or order; use the
// route's template.
//
// Idempotency keys go out as quoted strings, as the IETF draft has it; for
// services that take the key verbatim set Bare in the idempotency section.
//
// A body without GetBody that its writer is still producing when an attempt
// ends cannot be sent again, however short it is. A GetBody that rewinds its one
// body and returns it again serves retries, and no hedged copies.
//
// Requests that net/http refuses before sending, and those of schemes other
// than http and https, go to the base transport as they are: no policy applies.
//
// net/http repeats a request by itself when a reused connection turns out to
// be dead before anything was sent. That is below this package: it is neither
// counted nor prevented.
//
// # Not for
//
// Caching (the stale cache is a net for bad days), signing, authentication:
// put those transports inside, so that they act on each attempt.
package httpmw
