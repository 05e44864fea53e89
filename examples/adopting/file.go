package adopting

import (
	"context"
	"net/http"

	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

// fromFile is the client of all steps, by a file that may change while it works.
func fromFile(ctx context.Context, base http.RoundTripper, path string, w *watching) (*http.Client, error) {
	live, err := policyfile.Watch(ctx, path, policyfile.WithObserver(w.observer))
	if err != nil {
		return nil, err // every fault, with line and column
	}
	transport, err := httpmw.NewTransport(base, live.Target("payments"), httpmw.WithObserver(w.observer))
	if err != nil {
		return nil, err
	}
	live.Bind("payments", transport.Pipelines())
	return &http.Client{Transport: transport}, w.add("payments", transport)
}
