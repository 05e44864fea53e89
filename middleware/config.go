package middleware

import (
	"errors"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// Config says which policies a pipeline has and how they are set. A nil
// section leaves the policy out; a pointer to a zero section, such as
// &retry.Config{}, switches it on with its defaults. The order of the policies
// is fixed and no part of the configuration.
type Config struct {
	Fallback    *fallback.Config    `json:"fallback,omitempty" yaml:"fallback,omitempty"`
	Deadline    *deadline.Config    `json:"deadline,omitempty" yaml:"deadline,omitempty"`
	Idempotency *idempotency.Config `json:"idempotency,omitempty" yaml:"idempotency,omitempty"`
	Retry       *retry.Config       `json:"retry,omitempty" yaml:"retry,omitempty"`
	Hedge       *hedge.Config       `json:"hedge,omitempty" yaml:"hedge,omitempty"`
	Breaker     *breaker.Config     `json:"breaker,omitempty" yaml:"breaker,omitempty"`
	Bulkhead    *bulkhead.Config    `json:"bulkhead,omitempty" yaml:"bulkhead,omitempty"`
	Timeout     *timeout.Config     `json:"timeout,omitempty" yaml:"timeout,omitempty"`
}

// Validate returns every fault of every section at once, each a
// [backstay.FieldError] whose path begins with the section, and the faults
// that only show between sections.
func (c Config) Validate() error {
	return errors.Join(
		section("fallback", c.Fallback),
		section("deadline", c.Deadline),
		section("idempotency", c.Idempotency),
		section("retry", c.Retry),
		section("hedge", c.Hedge),
		section("breaker", c.Breaker),
		section("bulkhead", c.Bulkhead),
		section("timeout", c.Timeout),
		c.validateTogether(),
	)
}

func section[C interface{ Validate() error }](name string, c *C) error {
	if c == nil {
		return nil
	}
	return backstay.Under(name, (*c).Validate())
}
