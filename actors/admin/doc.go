// Package admin tells over HTTP how a node of actors is, and lets who may hand
// its actors over: an http.Handler to mount beside a service's other debug
// pages.
//
// # The problem
//
// A process that is about to be replaced should give its actors away before it
// is killed, an orchestrator wants to know whether it is ready, and somebody who
// looks for a request that hangs wants to see who waits for whom, now.
//
// # The promise
//
//	GET  inspect   how the node and its partitions are, as JSON: an inspect.Node
//	GET  health    200 if the node owns all that it was assigned, else 503 and why
//	POST drain     hands the actors over and stops the node; off by default
//
// The last element of the path decides, so the handler works below any prefix.
// It owns no goroutine. What it costs is paid by who asks: a partition answers
// between two turns of its loop.
//
// Nobody can drain unless [WithDrain] says so. Draining must be a POST of JSON
// from no other origin, with a token that the answer to inspect has, by somebody
// who is permitted at that moment. It begins no further methods, lets those that
// run end, and answers when the node has stopped, also to those who ask while
// another one waits. It goes on if who asked has left.
//
// # Defaults
//
//	drain            off, see WithDrain
//	drain timeout    30s, then what still runs is cut short; see WithDrainTimeout
//	inspect          waits 2s for partitions that are busy, and tells the rest
//
// # Example
//
//	handler, err := admin.New(node, admin.WithDrain(isOnCall))
//	if err != nil {
//		return err
//	}
//	mux.Handle("/debug/actors/", onlyForOperators(handler))
//
// The command backstay asks:
//
//	backstay actors inspect http://127.0.0.1:8080/debug/actors/
//	backstay actors drain http://127.0.0.1:8080/debug/actors/
//
// # Pitfalls
//
//   - Who may look is not its business: it shows ids of actors, names of methods
//     and texts of errors to everybody who reaches it. Wrap it, or listen on
//     loopback.
//   - health is about readiness. A node that takes partitions over is not ready,
//     and must not be restarted for it. It is Node.Health, and does not know what
//     the log meets with: look at Health of a kafka.Log as well.
//   - A drained node does not come back; its process is there to be stopped.
//   - It shows one process. Each of an application's has its own.
//
// # Not for
//
// History and alerts, which are what metrics are for, and dead letters, which
// are messages of an ordinary topic.
package admin
