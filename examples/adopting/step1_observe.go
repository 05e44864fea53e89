package adopting

import (
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/otelmw"
)

// before is a client as many are.
func before(base http.RoundTripper) *http.Client {
	return &http.Client{Transport: base, Timeout: 10 * time.Second}
}

// observed behaves like before. Its target has a name and no policy.
func observed(base http.RoundTripper, w *watching) (*http.Client, error) {
	transport, err := httpmw.NewTransport(base, middleware.Target{Name: "payments"},
		httpmw.WithObserver(w.observer))
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}, w.add("payments", transport)
}

// watching is made once in a program, and told of by all that it calls.
type watching struct {
	observer backstay.Observer
	metrics  *otelmw.Observer
	page     *console.Console
}

func newWatching() (*watching, error) {
	metrics, err := otelmw.New() // through the global providers of OpenTelemetry
	if err != nil {
		return nil, err
	}
	page, err := console.New(console.Config{})
	if err != nil {
		return nil, err
	}
	return &watching{backstay.Observers(metrics, page.Observer()), metrics, page}, nil
}

// add has gauges and console show the state of a transport's pipelines.
func (w *watching) add(name string, t *httpmw.Transport) error {
	w.metrics.Watch(t.Pipelines())
	return w.page.Add(name, t.Pipelines())
}
