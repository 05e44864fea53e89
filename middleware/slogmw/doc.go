// Package slogmw tells a log/slog logger what happens to calls: it is an
// observer for the policies, a pipeline, or a transport.
//
//	transport, err := httpmw.NewTransport(nil, middleware.Standard("payments"),
//		httpmw.WithObserver(slogmw.New(slog.Default())))
//
// # The promise
//
// A record's message is the event's kind ("retry planned"); its attributes are
// the fields that the event has, under the names that metrics use, without the
// namespace: policy, key, operation, attempt, copy, outcome, reason, rung,
// from, to, limit, wait, elapsed, error. It is logged with the context that the
// event came with, so that a handler finds trace and span.
//
// An event whose level the logger does not take costs the question, and no
// allocation.
//
// # Defaults
//
//	debug  what goes well, or is a part of something that is told elsewhere:
//	       attempts, copies, limits, evicted keys, calls that succeed; steps of
//	       actors that are done, snapshots saved, phases of takeovers, letters
//	       about requests that were given up
//	info   what was mended or refused: retries planned and suppressed, calls
//	       rejected, fallbacks used, headers ignored, answers replayed, faults
//	       injected; policies of a file that came into force; attempts of actors
//	       that failed and are repeated, partitions owned and handed over, an
//	       outbox that is no longer congested
//	warn   what somebody may have to look at: a breaker that changes its state,
//	       a call that failed in the end, a handler that timed out, a callback
//	       that panicked, an idempotency key in doubt, a policy that could not
//	       be applied, or that the file has no longer; a request to an actor
//	       that was given up, a partition that was taken away or refused, an
//	       outbox that is congested, a snapshot that failed
//	error  a policy file that was refused: the last good version stays in force;
//	       a handler that panicked, with its stack as an attribute of its own;
//	       what is lost to actors: records that cannot be read, messages that
//	       can never be delivered
//
// [WithLevel] decides otherwise, also by event; [Level] is the default, to fall
// back on.
//
// # Pitfalls
//
// Errors are logged as they are, with all that the backend said. Where that may
// hold what must not be logged, let the handler replace the attribute "error".
//
// At the level debug every attempt is a record.
//
// # Not for
//
// Traces and metrics.
package slogmw
