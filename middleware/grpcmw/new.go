package grpcmw

import (
	"errors"
	"slices"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
)

// NewClient returns a Client for the policies of target, or every fault of the
// configuration. Of target, HTTP and Propagate.Header have no meaning here.
func NewClient(target middleware.Target, options ...Option) (*Client, error) {
	b := builder{client: &Client{key: (*Request).Host}}
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
	if err := errors.Join(err, backstay.Under("grpcmw", c.validate())); err != nil {
		return err
	}
	c.pipelines = pipelines
	c.keys = pipelines.Idempotency()
	c.keyHeader = strings.ToLower(c.keys.Header())
	c.tells = tells(target.Propagate.Hosts)
	c.retries = target.Retry != nil
	c.exchange = &exchange{c}
	c.send = c.sendOnce
	c.ladder, err = b.ladder(target.Fallback)
	return err
}

// validate returns a fault for every method of the options that is none.
func (c *Client) validate() error {
	return errors.Join(
		c.passed.validate("pass_through"),
		c.repeats.reads.validate("reads"),
		c.repeats.idempotent.validate("idempotent"),
	)
}

// tells returns which hosts are told the number of the attempt.
func tells(hosts []string) func(string) bool {
	if slices.Contains(hosts, "*") {
		return func(string) bool { return true }
	}
	return func(host string) bool { return slices.Contains(hosts, host) }
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
