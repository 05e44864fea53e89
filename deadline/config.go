package deadline

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay"
)

// DefaultTotal bounds a call where Config.Total is zero.
const DefaultTotal = 10 * time.Second

// NoTotal, as [Config].Total, leaves the bound to the caller alone.
const NoTotal time.Duration = -1

// Config is the data of a [Policy]. The zero value is the default.
type Config struct {
	// Total bounds the whole call: all attempts, the waits between them, and
	// the reading of the answer. 0 means [DefaultTotal]; [NoTotal] means that
	// only the caller's own deadline counts. The earlier of the two wins.
	Total time.Duration `json:"total,omitempty" yaml:"total,omitempty"`
	// Reserve is taken off the caller's deadline, to leave time for the way
	// back. Default 0.
	Reserve time.Duration `json:"reserve,omitempty" yaml:"reserve,omitempty"`
	// Need is the least time in which the call can succeed: where less is left
	// it is refused at once with a [TooLateError]. Default 0: any time will do.
	Need time.Duration `json:"need,omitempty" yaml:"need,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	total := c.withDefaults().Total
	return backstay.Check(
		backstay.Setting{
			Path: "total", Value: c.Total, Valid: c.Total >= 0 || c.Total == NoTotal,
			Allowed: "must be positive, 0 for the default of 10s, or deadline.NoTotal",
		},
		backstay.Setting{
			Path: "reserve", Value: c.Reserve, Valid: c.Reserve >= 0,
			Allowed: "must not be negative",
		},
		backstay.Setting{
			Path: "need", Value: c.Need, Valid: c.Need >= 0 && (total < 0 || c.Need <= total),
			Allowed: "must not be negative, nor longer than total",
		},
	)
}

func (c Config) withDefaults() Config {
	c.Total = cmp.Or(c.Total, DefaultTotal)
	return c
}
