package httpmw

import (
	"errors"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
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
	b := builder{
		transport: &Transport{next: next, name: target.Name},
		pipelines: []middleware.Option{middleware.WithSettings(newSettings)},
	}
	for _, o := range options {
		o(&b)
	}
	if err := b.build(target); err != nil {
		return nil, err
	}
	return b.transport, nil
}

// build makes what needs the whole configuration, or returns all its faults.
func (b *builder) build(target middleware.Target) error {
	t := b.transport
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	if b.base != nil {
		if own := b.base(target, t.next); own != nil {
			t.next = own
		}
	}
	var faults, more error
	t.pipelines, faults = middleware.NewRegistry(target, b.pipelines...)
	t.ladder, more = b.ladder(target.Fallback)
	if err := errors.Join(faults, under(target.Name, errors.Join(more, b.faults))); err != nil {
		return err
	}
	t.plain = &exchange{t}
	t.send = t.sendOnce
	return nil
}

// under moves faults of the options to where those of the target are.
func under(name string, err error) error {
	if name != "" {
		err = backstay.Under(name, err)
	}
	return backstay.Under("middleware", err)
}

// ladder makes the ladder of the rungs that the options added; nil without any.
func (b *builder) ladder(c *fallback.Config) (*fallback.Ladder[*http.Request, *http.Response], error) {
	var config fallback.Config
	switch {
	case c == nil:
	case c.Validate() == nil:
		config = *c
	default: // the registry tells of its faults; here it counts whether there may be rungs
		config.FailClosed = c.FailClosed
	}
	rungs := make([]Rung, len(b.rungs))
	for i, of := range b.rungs {
		rungs[i] = of(b.transport)
	}
	var scope *backstay.Scope
	if b.transport.pipelines != nil {
		scope = b.transport.pipelines.Scope()
	}
	l, err := fallback.New(config, rungs, fallback.WithScope(scope))
	if len(rungs) == 0 {
		return nil, err
	}
	return l, err
}
