// Package httpmw puts the policies of Backstay under an http.Client.
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
// # Defaults
//
//	policies        those of the target; see middleware.Standard
//	key             the host of the URL
//	ReplayLimit     64 KiB of a request's body that has no GetBody
//	IdleBody        off: a response's body may be silent for ever
//	DrainLimit      512 KiB, DrainTime 50ms
//	Propagate       nobody is told of deadline and attempt; middleware.Internal tells all
//	judgement       see Classify
//
// # Pitfalls
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
// ends cannot be sent again, however short it is.
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
