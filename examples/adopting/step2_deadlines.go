package adopting

import (
	"net/http"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/timeout"
)

// withDeadlines is what step 2 adds to the target.
func withDeadlines(t middleware.Target) middleware.Target {
	t.Deadline = &deadline.Config{Total: 4 * time.Second}
	t.Timeout = &timeout.Config{After: time.Second}
	t.Propagate = middleware.Propagation{Hosts: []string{"payments.internal"}}
	return t
}

// bounded has no Timeout of its own any more: it would be one deadline too many.
func bounded(base http.RoundTripper, w *watching, target middleware.Target) (*http.Client, *httpmw.Transport, error) {
	transport, err := httpmw.NewTransport(base, target, httpmw.WithObserver(w.observer))
	if err != nil {
		return nil, nil, err
	}
	return &http.Client{Transport: transport}, transport, w.add(target.Name, transport)
}
