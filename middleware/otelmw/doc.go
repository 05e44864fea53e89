// Package otelmw tells OpenTelemetry what happens to calls: metrics of calls,
// attempts and policies, and a trace in which each attempt has a span of its
// own. It is an observer for pipelines, transports and clients.
//
//	observer, err := otelmw.New()
//	if err != nil {
//		return err
//	}
//	defer observer.Close()
//	transport, err := httpmw.NewTransport(observer.Transport(http.DefaultTransport),
//		middleware.Standard("payments"), httpmw.WithObserver(observer))
//	if err != nil {
//		return err
//	}
//	observer.Watch(transport.Pipelines())
//
// # The problem
//
// An instrument around an http.Client with retries sees one slow call, one
// below it sees unrelated requests. The first hides that the backend fails, the
// second counts errors that no caller got. And neither knows why a call was
// refused, how much of the retry budget is left, or which breaker is open.
//
// # The promise
//
//   - A call is one INTERNAL span; under it each attempt that was sent, hedged
//     copies included, is a CLIENT span, and the server's span is the attempt's
//     child ([Observer.Transport]).
//   - A failure that was mended marks the attempt and not the call: the status of
//     a call's span is what its caller got.
//   - Calls and attempts are counted apart, so that attempts by calls is the load
//     that retries add. A call that was refused is one rejection, whatever its
//     retries. A copy that lost is cancelled: no error, and no latency.
//   - A trace goes on through actors, retries and takeovers included
//     ([Observer.Actors]), and what waits in them is measured
//     ([Observer.WatchActors]).
//   - The number of series is bounded: [WithMaxNames].
//   - Without an observer nothing is paid. Without an SDK behind it a call costs
//     less than 300 ns and one allocation here; measuring allocates nothing.
//
// docs/telemetry.md lists every metric, span and attribute, when it moves, and
// what to alert on. Metrics and attributes are in the namespace backstay; units
// are UCUM's.
//
// # Defaults
//
//	providers, propagator   the global ones, also where they are set later
//	MaxNames                100 keys and 100 operations for each policy
//	Buckets                 13 from 1ms to 10s
//	attempt spans           on, see below
//	gauges                  those of what was given to Watch, a router's through All;
//	                        of a server (httpmw.Handler, grpcmw.Server) its bulkhead
//
// # Who carries the context
//
// A server's span is the child of whatever span the request names. Two ways lead
// there; together they would make two CLIENT spans of each attempt.
//
// By this package: [Observer.Transport] goes below the policies. It puts the
// attempt's context into the request and describes the attempt's span as HTTP's
// conventions say. What is no http.Request uses [Observer.Inject]; for gRPC that
// is an interceptor that follows the client's in the chain:
//
//	func carry(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
//		observer.Inject(ctx, func(field, value string) { ctx = metadata.AppendToOutgoingContext(ctx, field, value) })
//		return invoke(ctx, method, req, reply, cc, o...)
//	}
//
// By an instrument below, such as otelhttp's transport or otelgrpc's stats
// handler: it makes a CLIENT span of each attempt, with all that it knows, and
// carries that. [WithoutAttemptSpans] leaves the attempts to it; its spans are
// then children of the call's. Nothing of the trace is lost but the attempt's
// number, which the call's events tell.
//
//	observer, err := otelmw.New(otelmw.WithoutAttemptSpans())
//	conn, err := grpc.NewClient(address, append(client.DialOptions(),
//		grpc.WithStatsHandler(otelgrpc.NewClientHandler()))...)
//
// An instrument above the policies sees calls, and may stay there.
//
// # Pitfalls
//
// The global propagator carries nothing until the program sets one, with
// otel.SetTextMapPropagator or [WithPropagator]: every span would be a trace of
// its own.
//
// Keys come from a bounded set. Those beyond the limit are told together under
// the name "other": counts are added, of budgets the least is told, a state is 1
// if any breaker is in it.
//
// Errors are told as they are, with all that the backend said, as the status of
// spans. URLs are told with their query, without passwords and signatures.
//
// The span of an attempt ends with the headers of its response; a body that
// streams afterwards is in neither span.
//
// A registry that is closed should not be watched any more: call what
// [Observer.Watch] returned.
//
// # Not for
//
// Logs, which slogmw writes, with the trace's context; spans of servers, which
// otelhttp and otelgrpc make; profiles.
package otelmw
