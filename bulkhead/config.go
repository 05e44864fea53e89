package bulkhead

import (
	"cmp"
	"math"
	"time"

	"github.com/backstay-go/backstay"
)

// DefaultLimit is how many calls may be in flight where Config.Limit is zero.
const DefaultLimit = 64

// Unlimited is the [Config].Limit that admits every call, and still counts them.
const Unlimited = -1

// Bounds of what a Config may ask for. They leave room to add up weights
// without overflow.
const (
	maxLimit = 1 << 48
	maxQueue = 1 << 30
	maxWait  = 24 * time.Hour
	minRate  = 1e-6
	maxRate  = 1e9
)

// Config is the data of a [Bulkhead]. The zero value is the default: 64 calls
// in flight, nobody waits.
type Config struct {
	// Limit is how much weight may be in flight at once; a call weighs 1
	// unless it says otherwise. 0 means [DefaultLimit]; [Unlimited] takes the
	// limit away. With Adaptive it is where the limit starts.
	Limit int64 `json:"limit,omitempty" yaml:"limit,omitempty"`
	// MaxQueue is how many calls may wait for a permit. 0 means none: a call
	// that does not fit is refused at once.
	MaxQueue int `json:"max_queue,omitempty" yaml:"max_queue,omitempty"`
	// MaxWait is the longest wait in the queue. 0 means until the caller's
	// own deadline.
	MaxWait time.Duration `json:"max_wait,omitempty" yaml:"max_wait,omitempty"`
	// HoldBody keeps the permit until the answer is used up (for HTTP: its
	// body is closed). Otherwise it comes back when the call returns.
	HoldBody bool `json:"hold_body,omitempty" yaml:"hold_body,omitempty"`
	// Weighted makes [Run] ask the context for a weight, see [WithWeight].
	Weighted bool `json:"weighted,omitempty" yaml:"weighted,omitempty"`
	// Priorities makes [Run] ask the context for a priority, see
	// [WithPriority]. nil treats all calls alike.
	Priorities *PriorityConfig `json:"priorities,omitempty" yaml:"priorities,omitempty"`
	// Adaptive lets the limit follow the backend. nil keeps it fixed.
	Adaptive *AdaptiveConfig `json:"adaptive,omitempty" yaml:"adaptive,omitempty"`
	// Rate bounds, beside how many calls run at once, how many start per
	// second. nil does not.
	Rate *RateConfig `json:"rate,omitempty" yaml:"rate,omitempty"`
}

// PriorityConfig says how far calls of a lower priority may fill the limit.
// Critical calls may fill all of it. The rest of the ordering needs no
// configuration: the queue serves higher priorities first, and a full queue
// gives up its newest call of the lowest priority for a call of a higher one.
type PriorityConfig struct {
	// DefaultShare is the share of the limit that calls of [Default] and
	// [Sheddable] priority may fill together. 0 means 0.9.
	DefaultShare float64 `json:"default_share,omitempty" yaml:"default_share,omitempty"`
	// SheddableShare is the share up to which calls of [Sheddable] priority
	// are admitted. 0 means 0.7, or DefaultShare where that is less.
	SheddableShare float64 `json:"sheddable_share,omitempty" yaml:"sheddable_share,omitempty"`
}

// RateConfig bounds how many calls start per second.
type RateConfig struct {
	// PerSecond is the steady rate. It has no default.
	PerSecond float64 `json:"per_second" yaml:"per_second"`
	// Burst is how many calls may start at once after a pause. 0 means one
	// second's worth, at least 1.
	Burst int `json:"burst,omitempty" yaml:"burst,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	settings := []backstay.Setting{
		limitSetting(c.Limit),
		{
			Path: "max_queue", Value: c.MaxQueue,
			Valid:   c.MaxQueue >= 0 && c.MaxQueue <= maxQueue,
			Allowed: "must be from 0 to 2^30",
		}, {
			Path: "max_wait", Value: c.MaxWait,
			Valid:   c.MaxWait >= 0 && c.MaxWait <= maxWait,
			Allowed: "must be from 0 to 24h",
		}, {
			Path: "max_wait", Value: c.MaxWait,
			Valid:   c.MaxWait <= 0 || c.MaxQueue != 0,
			Allowed: "must be 0 where max_queue is 0: nobody waits there",
		},
	}
	settings = append(settings, c.Priorities.settings()...)
	settings = append(settings, c.Adaptive.settings(c.Limit)...)
	settings = append(settings, c.Rate.settings()...)
	return backstay.Check(settings...)
}

func limitSetting(limit int64) backstay.Setting {
	return backstay.Setting{
		Path: "limit", Value: limit,
		Valid:   limit == Unlimited || (limit >= 0 && limit <= maxLimit),
		Allowed: "must be from 1 to 2^48, 0 for the default of 64, or -1 for unlimited",
	}
}

func (c *PriorityConfig) settings() []backstay.Setting {
	if c == nil {
		return nil
	}
	d := c.withDefaults()
	return []backstay.Setting{
		{
			Path: "priorities.default_share", Value: c.DefaultShare,
			Valid:   isShare(d.DefaultShare),
			Allowed: "must be above 0 and at most 1, or 0 for the default of 0.9",
		}, {
			Path: "priorities.sheddable_share", Value: c.SheddableShare,
			Valid:   isShare(d.SheddableShare),
			Allowed: "must be above 0 and at most 1, or 0 for the default of 0.7",
		}, {
			Path: "priorities.sheddable_share", Value: c.SheddableShare,
			Valid:   !isShare(d.SheddableShare) || !isShare(d.DefaultShare) || d.SheddableShare <= d.DefaultShare,
			Allowed: "must not be above default_share",
		},
	}
}

// isShare is false for NaN, too.
func isShare(f float64) bool { return f > 0 && f <= 1 }

func (c PriorityConfig) withDefaults() PriorityConfig {
	c.DefaultShare = cmp.Or(c.DefaultShare, 0.9)
	c.SheddableShare = cmp.Or(c.SheddableShare, min(0.7, c.DefaultShare))
	return c
}

func (c *RateConfig) settings() []backstay.Setting {
	if c == nil {
		return nil
	}
	return []backstay.Setting{
		{
			Path: "rate.per_second", Value: c.PerSecond,
			Valid:   c.PerSecond >= minRate && c.PerSecond <= maxRate,
			Allowed: "must be from 10^-6 to 10^9",
		}, {
			Path: "rate.burst", Value: c.Burst,
			Valid:   c.Burst >= 0 && c.Burst <= maxRate,
			Allowed: "must be from 1 to 10^9, or 0 for one second's worth",
		},
	}
}

func (c RateConfig) withDefaults() RateConfig {
	c.Burst = cmp.Or(c.Burst, int(math.Ceil(c.PerSecond)))
	return c
}
