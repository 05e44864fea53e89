// Package policyfile reads the policies of a program's calls from one file, in
// YAML or JSON, for HTTP and gRPC alike.
//
//	version: 1
//	profiles:
//	  careful:
//	    retry: {max_attempts: 2, budget: {ratio: 5%}}
//	targets:
//	  payments:
//	    extends: careful
//	    match: {host: pay.example.com}
//	    deadline: {total: 3s}
//	    timeout: {after: 800ms}
//	  stock:
//	    extends: reads
//	    idempotent: true
//	    match: {grpc: inventory.v1.Stock/Get}
//
// A program hands the targets to the constructors:
//
//	policies, err := policyfile.Load("policies.yaml")
//	if err != nil {
//		return err // every fault at once
//	}
//	transport, err := httpmw.NewTransport(nil, policies.Target("payments"))
//	options, err := grpcmw.DialOptions(policies.Target("stock"))
//	handler, err := httpmw.NewHandler(mux, policies.Server())
//
// or follows the file while it runs, target by target or all of them:
//
//	live, err := policyfile.Watch(ctx, "policies.yaml")
//	defer live.Bind("payments", transport.Pipelines())()
//	defer live.BindServer(handler)()
//	router, err := httpmw.NewRouter(nil, live)
//
// How files are written docs/policies.md says, with a whole one as an example.
//
// # The problem
//
// Settings of resilience are wrong quietly: a typing mistake in a key switches
// a budget off, a 0 that was meant as "none" is taken for "the default", two
// files disagree, and attempts that never fit into the total look like
// protection. It shows in the outage that they were written for.
//
// # The promise
//
//   - Unknown keys, keys that come twice, values of another kind or out of
//     bounds, and values that contradict each other are faults. [Parse] returns
//     all of them at once, each with file, line, column, path, reason and
//     suggestion.
//   - What is written counts as written: 0 is refused where it makes no sense,
//     and what can be switched off is switched off by the word off.
//   - [Policies.Explain] shows every value with its origin, and what the target
//     makes of its calls in the worst case.
//   - [Watch] follows the file: a bad version is told and changes nothing, and a
//     good one takes effect as a whole, after its writer is done with it.
//     [Live.Bind] keeps what was built from a target up to date, and
//     [Live.BindServer] what was built from the server; the state of what did
//     not change stays: breakers, budgets, limits. What came, changed or went
//     is told apart.
//   - [Policies.Match] takes less than 100 ns and no allocation, however many
//     targets there are.
//   - What is no policy file, is too long, or says too much by its aliases is
//     refused, before it takes time or memory.
//
// # What is written how
//
//	durations   250ms, 2s, 1m30s    a unit is required
//	shares      20% or 0.2
//	sizes       65536 or 64KiB
//	sections    {name: value}, on (its defaults), off (left out); timeout: 500ms is {after: 500ms}
//
// # Defaults
//
//	a target or profile that extends nothing   extends standard
//	standard, internal, reads                  middleware.Standard, Internal, Reads
//	none                                       no policies at all
//	a file without a server                    middleware.StandardServer
//	[WithEvery]                                2 s
//	[WithSignals]                              SIGHUP
//	a file                                     at most 1 MiB, one document, a million values
//
// The defaults of all values are in policy.schema.json, which [Schema] returns,
// and in the packages of the policies.
//
// # Matching
//
// A target may say which requests it is for: host, method and route template,
// or gRPC service and method. [Policies.Match] finds the most specific one: for
// an RPC one that names its service before all that do not; then by host
// (exact, then the longest suffix, then any; with a port before without), then
// by route (a literal segment before a {parameter} before {the rest...}) or
// gRPC method, then by HTTP method. Two that nothing decides between are a
// fault.
//
// # Pitfalls
//
//   - Sections are merged value by value along extends. off takes a section
//     away with all that was set in it; a list replaces a list.
//   - idempotent: true has every call repeated, and where there is hedging
//     copied, a POST too: a copy may land after the caller's next call.
//   - The server extends standard, whose bulkhead adapts its limit: a limit
//     beside it is where it begins. A fixed one needs adaptive: off.
//   - A router gives the requests of a target that went to what matches them
//     then, or else to the standard policies; see [PolicyRemoved].
//   - The target that [Policies.Target] returns for an unknown name is refused
//     by whoever is to build from it.
//   - Without [Live.Bind], [Live.BindServer] or a router, a new version reaches
//     nobody.
//   - A server keeps its name, and cannot begin to do keyed work once without
//     the store that it was built with: such a version is not applied to it,
//     which is told.
//
// Not for secrets, and not for what is code: fallbacks, classifiers, keys.
package policyfile
