// Package console shows pipelines on a live page: an http.Handler to mount
// beside a service's other debug pages.
//
// # The problem
//
// A breaker that opens, a budget that is empty and a bulkhead that is full are
// states of one process, and a question of seconds. Metrics arrive a minute
// later, and averaged over all processes; a log tells what happened, not what
// is; and nobody can tell a breaker to stay open while its host is repaired.
//
// # The promise
//
// The page lists every pipeline of the registries that were added, by
// [Console.Add] or for all the targets of a router by [Console.AddAll], those in
// trouble first, with state, rates, latencies, retry budget, hedges, bulkhead
// and the breaker's transitions, and below it what was notable. Nodes of actors
// that were added ([Console.AddActors]) have a section of their own. It follows by
// server-sent events, without being loaded again. The same data is state.json,
// in the form of [State].
//
//   - It costs nothing while nobody looks, but what [Console.Observer] does: no
//     allocation and no contended lock for a call, and up to 4 KiB a key.
//   - It has no goroutine: a stream lives on its own request's, all who watch
//     share one look at the pipelines, and looking takes at most a tenth of one
//     processor.
//   - Everything is bounded: rows a page, pipelines looked at, keys remembered,
//     streams, notices. What a bound leaves out is counted, and said.
//   - Nobody can act unless [WithActions] says so. An action must be a POST of
//     JSON from the page's own origin, with the page's token, by somebody who is
//     permitted at that moment.
//   - The page loads nothing from elsewhere; its Content-Security-Policy allows
//     no inline script or style. Names and keys are text, whatever they hold.
//   - [Console.Close] ends the streams, and returns when they are gone.
//
// # Defaults
//
//	interval       1s          between two looks, while somebody watches
//	page           50 rows
//	pipelines      20,000      looked at
//	keys           10,000      remembered for each target
//	watchers       32          streams; further pages ask every 5 s
//	slow watchers  10s         to read one event, then they are dropped
//	notices        200         kept; the same within 10 s is one, with a count
//	rates          10s         bars of 2 s for a minute
//	latencies      30 to 60s   within 6 %, of calls that were not refused or cancelled
//	transitions    16          kept for each breaker
//	actors         50 types, 12 methods and 12 partitions in trouble; a node
//	               that is busy for 0.5s is shown as far as it is known
//	errors         not shown   see WithErrors
//	actions        none        see WithActions
//
// # Example
//
//	page, err := console.New(console.Config{Title: "Shop"})
//	if err != nil {
//		return err
//	}
//	transport, err := httpmw.NewTransport(nil, middleware.Standard("payments"),
//		httpmw.WithObserver(page.Observer()))
//	if err != nil {
//		return err
//	}
//	if err := page.Add("payments", transport.Pipelines()); err != nil {
//		return err
//	}
//	mux.Handle("/debug/console/", onlyForOperators(page))
//	server.RegisterOnShutdown(func() { _ = page.Close(ctx) })
//
// # Pitfalls
//
//   - Who may look is not the console's business: it shows the names of hosts to
//     everybody who reaches it. Wrap it, as onlyForOperators does above, or
//     listen on loopback, with a check of the Host header.
//   - Pipelines must be made with the console's observer, and with a name. Those
//     that were not show what they are, but no rates, latencies or transitions;
//     the page says how many they are. Targets of one name are one in the
//     observer's eyes.
//   - http.Server.Shutdown waits for streams: close the console first, or let
//     RegisterOnShutdown do so.
//   - It shows one process. Behind a load balancer, each request may reach
//     another one; ask for a certain one.
//   - A breaker that was forced stays so until somebody resets it, or the
//     process ends. It is not the way to switch a dependency off for good.
//
// # Not for
//
// Alerts, history beyond some minutes, fleets: that is what metrics are for.
package console
