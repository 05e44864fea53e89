package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

var errDown = errors.New("connection refused")

// world is a server that shows a console, at url.
type world struct {
	t       *testing.T
	console *console.Console
	url     string
}

// newWorld shows a console below a prefix, as people do.
func newWorld(t *testing.T, config console.Config, options ...console.Option) *world {
	t.Helper()
	if config.Interval == 0 {
		config.Interval = 200 * time.Millisecond
	}
	c, err := console.New(config, options...)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/console/", http.StripPrefix("/debug/console", c))
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return &world{t: t, console: c, url: server.URL + "/debug/console/"}
}

// anybody may act.
func anybody(*http.Request) bool { return true }

// registry makes a registry of target that the console shows, with a pipeline
// for each key.
func (w *world) registry(target middleware.Target, keys ...string) *middleware.Registry {
	w.t.Helper()
	r, err := middleware.NewRegistry(target, middleware.WithObserver(w.console.Observer()))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.console.Add(target.Name, r); err != nil {
		w.t.Fatal(err)
	}
	for _, key := range keys {
		r.Get(key, backstay.Now())
	}
	return r
}

// call makes a call to key that takes d and ends in err.
func call(ctx context.Context, r *middleware.Registry, key string, d time.Duration, err error) error {
	_, got := middleware.Race(ctx, r.Get(key, backstay.Now()), nil, func(ctx context.Context) (int, error) {
		select {
		case <-time.After(d):
			return 0, err
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
	return got
}

// touchy opens after two failures, and stays open.
func touchy(name string) middleware.Target {
	return middleware.Target{Name: name, Config: middleware.Config{
		Breaker: &breaker.Config{Consecutive: 2, OpenFor: time.Hour, MaxOpenFor: time.Hour},
	}}
}
