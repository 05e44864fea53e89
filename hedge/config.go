package hedge

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [Config] and of its [BudgetConfig].
const (
	DefaultPercentile = 0.95
	DefaultMinSamples = 100
	DefaultFloor      = 5 * time.Millisecond
	DefaultCeiling    = time.Second
	DefaultMaxCopies  = 1
	DefaultRatio      = 0.05
	DefaultBurst      = 10
)

// What [Config.Validate] allows at most.
const (
	maxSamples  = 1_000_000
	maxDuration = time.Hour
	maxCopies   = 10
	maxBurst    = 10_000
)

// Config is the data of a [Policy]. The zero value is the default.
type Config struct {
	// Delay is how long a copy may run before the next one is sent. 0 means
	// the live percentile of recent successes.
	Delay time.Duration `json:"delay,omitempty" yaml:"delay,omitempty"`
	// Percentile is the share of recent successes that are quicker than the
	// live delay. 0 means [DefaultPercentile]. Unused with a fixed Delay, as
	// are MinSamples, Floor and Ceiling.
	Percentile float64 `json:"percentile,omitempty" yaml:"percentile,omitempty"`
	// MinSamples is how many successes must have been seen before the
	// percentile is trusted. 0 means [DefaultMinSamples].
	MinSamples int `json:"min_samples,omitempty" yaml:"min_samples,omitempty"`
	// Floor is the shortest live delay, so that a quick backend is not hedged
	// over noise. 0 means [DefaultFloor].
	Floor time.Duration `json:"floor,omitempty" yaml:"floor,omitempty"`
	// Ceiling is where hedging ends: a backend whose percentile has reached it
	// is slow as a whole, and copies would only load it more. 0 means
	// [DefaultCeiling].
	Ceiling time.Duration `json:"ceiling,omitempty" yaml:"ceiling,omitempty"`
	// MaxCopies is how many copies may follow the first. 0 means
	// [DefaultMaxCopies].
	MaxCopies int `json:"max_copies,omitempty" yaml:"max_copies,omitempty"`
	// Budget bounds the copies over all calls.
	Budget BudgetConfig `json:"budget,omitzero" yaml:"budget,omitempty"`
}

// BudgetConfig bounds how much load hedging adds: after n calls, at most
// Burst + n x Ratio copies have been sent, however many callers there are.
type BudgetConfig struct {
	// Ratio is how many copies each call pays for. 0 means [DefaultRatio]; 1
	// lets every call have a copy.
	Ratio float64 `json:"ratio,omitempty" yaml:"ratio,omitempty"`
	// Burst is how many copies can be saved up, and what a new policy starts
	// with. 0 means [DefaultBurst].
	Burst int `json:"burst,omitempty" yaml:"burst,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	d := c.withDefaults()
	return backstay.Check(
		backstay.Setting{
			Path: "delay", Value: c.Delay, Valid: c.Delay >= 0 && c.Delay <= maxDuration,
			Allowed: "must be positive and at most 1h, or 0 for the live percentile",
		},
		backstay.Setting{
			Path: "percentile", Value: c.Percentile, Valid: d.Percentile > 0 && d.Percentile < 1,
			Allowed: "must be above 0 and below 1",
		},
		backstay.Setting{
			Path: "min_samples", Value: c.MinSamples, Valid: d.MinSamples >= 1 && d.MinSamples <= maxSamples,
			Allowed: "must be from 1 to 1000000",
		},
		backstay.Setting{
			Path: "floor", Value: c.Floor, Valid: d.Floor > 0 && d.Floor <= maxDuration,
			Allowed: "must be positive and at most 1h",
		},
		backstay.Setting{
			Path: "ceiling", Value: c.Ceiling, Valid: d.Ceiling > d.Floor && d.Ceiling <= maxDuration,
			Allowed: "must be above floor (" + d.Floor.String() + ") and at most 1h",
		},
		backstay.Setting{
			Path: "max_copies", Value: c.MaxCopies, Valid: d.MaxCopies >= 1 && d.MaxCopies <= maxCopies,
			Allowed: "must be from 1 to 10",
		},
		backstay.Setting{
			Path: "budget.ratio", Value: c.Budget.Ratio, Valid: d.Budget.Ratio > 0 && d.Budget.Ratio <= 1,
			Allowed: "must be above 0 and at most 1",
		},
		backstay.Setting{
			Path: "budget.burst", Value: c.Budget.Burst, Valid: d.Budget.Burst >= 1 && d.Budget.Burst <= maxBurst,
			Allowed: "must be from 1 to 10000",
		},
	)
}

func (c Config) withDefaults() Config {
	c.Percentile = cmp.Or(c.Percentile, DefaultPercentile)
	c.MinSamples = cmp.Or(c.MinSamples, DefaultMinSamples)
	c.Floor = cmp.Or(c.Floor, DefaultFloor)
	c.Ceiling = cmp.Or(c.Ceiling, DefaultCeiling)
	c.MaxCopies = cmp.Or(c.MaxCopies, DefaultMaxCopies)
	c.Budget.Ratio = cmp.Or(c.Budget.Ratio, DefaultRatio)
	c.Budget.Burst = cmp.Or(c.Budget.Burst, DefaultBurst)
	return c
}
