package httpmw

import (
	"cmp"
	"net/http"
	"time"

	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
)

// The defaults of [middleware.HTTP].
const (
	DefaultReplayLimit = 64 << 10
	DefaultDrainLimit  = 512 << 10
	DefaultDrainTime   = 50 * time.Millisecond
)

// NewTransport returns a Transport that sends what the policies of target
// allow through next, or every fault of the configuration. A nil next is
// http.DefaultTransport.
//
// Put it outside of transports that act once for each attempt, such as signing
// or tracing, and inside of http.Client, whose redirects and cookies then work
// as ever.
func NewTransport(next http.RoundTripper, target middleware.Target, options ...Option) (*Transport, error) {
	b := builder{transport: &Transport{
		next:        next,
		key:         func(req *http.Request) string { return req.URL.Host },
		name:        target.Name,
		replayLimit: cmp.Or(target.HTTP.ReplayLimit, DefaultReplayLimit),
		idleBody:    target.HTTP.IdleBody,
		drainLimit:  cmp.Or(target.HTTP.DrainLimit, DefaultDrainLimit),
		drainTime:   cmp.Or(target.HTTP.DrainTime, DefaultDrainTime),
	}}
	for _, o := range options {
		o(&b)
	}
	if err := b.build(target); err != nil {
		return nil, err
	}
	return b.transport, nil
}

// build makes what needs the whole configuration, or returns all its faults.
func (b *builder) build(target middleware.Target) (err error) {
	t := b.transport
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	if t.pipelines, err = middleware.NewRegistry(target, b.pipelines...); err != nil {
		return err
	}
	t.keys = t.pipelines.Idempotency()
	t.judgement = judgement{keyHeader: t.keys.Header(), waitHeaders: target.HTTP.WaitHeaders}
	t.headers = newHeaders(target.Propagate)
	t.plain = &exchange{t}
	t.send = t.sendOnce
	t.ladder, err = b.ladder(target.Fallback)
	return err
}

// ladder makes the ladder of the rungs that the options added; nil without any.
func (b *builder) ladder(c *fallback.Config) (*fallback.Ladder[*http.Request, *http.Response], error) {
	if len(b.rungs) == 0 {
		return nil, nil
	}
	var config fallback.Config
	if c != nil {
		config = *c
	}
	rungs := make([]Rung, len(b.rungs))
	for i, of := range b.rungs {
		rungs[i] = of(b.transport)
	}
	return fallback.New(config, rungs, fallback.WithScope(b.transport.pipelines.Scope()))
}
