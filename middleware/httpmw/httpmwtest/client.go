package httpmwtest

import (
	"context"
	"net/http"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// Client returns an http.Client whose requests go through the policies of
// target to backend. A fault of the target fails the test at once; the
// transport is closed when the test ends.
func Client(t TB, backend http.RoundTripper, target middleware.Target, options ...httpmw.Option) *http.Client {
	t.Helper()
	transport, err := httpmw.NewTransport(backend, target, options...)
	if err != nil {
		t.Fatalf("httpmwtest: %v", err)
	}
	t.Cleanup(func() { _ = transport.Close(context.Background()) })
	return &http.Client{Transport: transport}
}
