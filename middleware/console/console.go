package console

import (
	"context"
	"net/http"
	"sync"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/guard"
)

// Console is an http.Handler that shows pipelines. It owns no goroutine; it is
// safe for concurrent use. Make one with [New], and close it.
type Console struct {
	config   Config
	memory   *observer
	guard    *guard.Guard
	watchers watchers

	looking sync.Mutex // held by the one who looks at the pipelines
	mu      sync.Mutex
	sources []source
	nodes   []node
	sample  *sample // the latest; nil where it must not be used
}

// Option gives a [Console] a collaborator.
type Option func(*Console)

// WithActions puts buttons on the page: force a breaker open or closed, let it
// only count, reset it. authorize decides who gets them, and is asked again for
// every action; it may be called by several goroutines at once. Without this
// option nobody may act.
func WithActions(authorize func(*http.Request) bool) Option {
	return func(c *Console) { c.guard.Authorize = authorize }
}

// WithErrors shows the text of errors with notable events, as text returns it;
// error.Error is a possible text. Without this option no error is shown: what a
// backend says may hold what not everybody who watches should see. text runs at
// most once in 10 s for each pipeline, kind and reason, and may panic.
func WithErrors(text func(error) string) Option {
	return func(c *Console) { c.memory.redact = text }
}

// New returns a Console that shows nothing yet; see [Console.Add]. The error
// joins all faults of config, each a [backstay.FieldError] whose path begins
// with "console".
func New(config Config, options ...Option) (*Console, error) {
	if err := config.Validate(); err != nil {
		return nil, backstay.Under("console", err)
	}
	config = config.withDefaults()
	c := &Console{
		config: config, memory: &observer{keys: config.MaxKeys}, guard: newGuard(),
		watchers: newWatchers(config.MaxWatchers),
	}
	for _, set := range options {
		set(c)
	}
	return c, nil
}

// Observer is what pipelines must be told of for rates, latencies, transitions
// and notable events: pass it to middleware.WithObserver, or a protocol's
// option of that name. Who else wants to be told joins it with
// [backstay.Observers]. It works also after Close.
func (c *Console) Observer() backstay.Observer { return c.memory }

// Close ends all streams, refuses further requests with 503, and returns when
// the last stream is gone, or ctx has ended; then the error is the cause of its
// end. Close may be called again.
func (c *Console) Close(ctx context.Context) error { return c.watchers.close(ctx) }
