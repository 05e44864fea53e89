// Package httpmwtest helps to test how a program's calls survive failure: a
// scripted backend for [middleware/httpmw], and a recorder of what the
// pipeline did.
//
//	func TestChargeSurvivesABlip(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			backend := httpmwtest.Script(
//				httpmwtest.Status(503),
//				httpmwtest.Hang(2*time.Second),
//				httpmwtest.Status(200).Body("charged"),
//			)
//			var seen httpmwtest.Recorder
//			client := httpmwtest.Client(t, backend, middleware.Standard("payments"), httpmw.WithObserver(&seen))
//			resp, err := client.Get("http://payments.test/")
//			...
//			backend.Want(t, 3)
//			seen.Want(t, backstay.RetryPlanned, 2)
//		})
//	}
//
// # The problem
//
// What a client does on a bad day is rarely tested: real servers do not fail on
// demand, a test server on loopback takes real seconds to be slow, and a mock
// that returns canned responses neither ends with its context nor closes
// request bodies, so that it hides the very faults that matter.
//
// # The promise
//
// The backend is an http.RoundTripper without a network, so it runs in the
// virtual time of testing/synctest: a test of a ten-minute outage takes
// microseconds. It keeps the contract that a real transport keeps: it reads
// and closes request bodies, ends with the request's context, also within the
// body of a response, and fails with the errors of a real network.
//
// # Steps
//
//	Status(503)       answers at once
//	Hang(d)           answers 200 after d: longer than a timeout, it hangs
//	BlackHole()       never answers
//	Refuse()          nobody listens: nothing was sent
//	Reset()           the connection breaks after the request was taken
//	Fail(err)         fails with any error
//	Serve(f)          answers with a function
//
// and, of any of them, Header, RetryAfter, Body, After (a delay), Stall (the
// body falls silent), Truncate (the body breaks off), Times (so often).
//
// What happened is asked of the backend ([Backend.Requests], [Backend.Waits],
// [Backend.Headers], [Backend.Contents]), of the [Recorder], and for one call of
// backstay.WithReport.
//
// # Pitfalls
//
// Make the client within the bubble of synctest.Test: its pipelines belong to
// the bubble's time.
//
// The jitter of retries is random: compare waits with bounds, or set
// retry.NoWait.
//
// A Retry-After is in whole seconds, as in the header.
//
// # Not for
//
// Connections, HTTP/2, proxies and TLS: those need a real server, such as
// net/http/httptest has.
//
// [middleware/httpmw]: https://pkg.go.dev/github.com/backstay-go/backstay/middleware/httpmw
package httpmwtest
