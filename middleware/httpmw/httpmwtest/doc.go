// Package httpmwtest helps to test how a program's calls survive failure: a
// scripted backend for [middleware/httpmw], and a recorder of what the
// pipeline did.
//
//	func TestChargeSurvivesABlip(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			backend := httpmwtest.Script(
//				httpmwtest.Status(503),
//				httpmwtest.Hang(3*time.Second),
//				httpmwtest.Status(200),
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
// The backend is an http.RoundTripper without a network, so it runs in the
// virtual time of testing/synctest: a test of a ten-minute outage takes
// microseconds. It keeps the contract that a real transport keeps: it reads
// and closes request bodies and ends with the request's context.
//
// [middleware/httpmw]: https://pkg.go.dev/github.com/backstay-go/backstay/middleware/httpmw
package httpmwtest
