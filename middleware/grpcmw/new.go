package grpcmw

import (
	"errors"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
)

// NewClient returns a Client for the policies of target, or every fault of the
// configuration. Of target, HTTP and Propagate.Header have no meaning here.
func NewClient(target middleware.Target, options ...Option) (*Client, error) {
	b := builder{
		client:    new(Client),
		pipelines: []middleware.Option{middleware.WithSettings(newSettings)},
	}
	b.client.passed.add(untouched)
	for _, o := range options {
		o(&b)
	}
	if err := b.build(target); err != nil {
		return nil, err
	}
	return b.client, nil
}

// build makes what needs the whole configuration, or returns all its faults.
func (b *builder) build(target middleware.Target) error {
	c := b.client
	pipelines, err := middleware.NewRegistry(target, b.pipelines...)
	if err := errors.Join(err, backstay.Under("grpcmw", b.validate())); err != nil {
		return err
	}
	c.pipelines = pipelines
	if b.inner != nil {
		c.inner = b.inner(target)
	}
	c.exchange = &exchange{c}
	c.send = c.sendOnce
	c.readsHeaders = c.classify != nil || len(b.rungs) > 0
	c.ladder, err = b.ladder(target.Fallback)
	return err
}

// validate returns the faults of the options: of every method that is none, and
// of the limit for first answers.
func (b *builder) validate() error {
	c := b.client
	return errors.Join(
		c.passed.validate("pass_through"),
		c.repeats.reads.validate("reads"),
		c.repeats.idempotent.validate("idempotent"),
		backstay.Check(backstay.Setting{
			Path: "first_answer", Value: c.firstAnswer, Valid: !b.firstAnswer || c.firstAnswer > 0,
			Allowed: "must be positive",
		}),
	)
}

// ladder makes the ladder of the rungs that the options added; nil without any.
func (b *builder) ladder(c *fallback.Config) (*fallback.Ladder[*Request, *Reply], error) {
	if len(b.rungs) == 0 {
		return nil, nil
	}
	var config fallback.Config
	if c != nil {
		config = *c
	}
	return fallback.New(config, b.rungs, fallback.WithScope(b.client.pipelines.Scope()))
}
