package breaker

import (
	"cmp"
	"slices"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [Config].
const (
	DefaultWindow       = 20
	DefaultBuckets      = 10
	DefaultFailureRatio = 0.5
	DefaultMinCalls     = 10
	DefaultOpenFor      = 5 * time.Second
	DefaultMaxOpenFor   = time.Minute
	DefaultProbes       = 1
	DefaultProbeLease   = 30 * time.Second
)

// NoFailureRatio as [Config].FailureRatio switches that rule off.
const NoFailureRatio = -1

// Bounds of what a Config may ask for: enough for every use, and small enough
// that no counter and no sum of times can overflow.
const (
	maxCalls  = 10_000
	maxProbes = 1000
	maxWindow = time.Hour
	maxWait   = 24 * time.Hour
	minWait   = time.Millisecond
	maxBucket = 100
)

// Config is the data of a [Breaker]. The zero value is the default: opens when
// half of the last 20 calls failed, but not before 10 calls.
type Config struct {
	// Window is how many of the last calls are judged. 0 means
	// [DefaultWindow]; it must be 0 where TimeWindow is set.
	Window int `json:"window,omitempty" yaml:"window,omitempty"`
	// TimeWindow judges the calls of this stretch of time instead of a number
	// of calls. 0 means a window of calls.
	TimeWindow time.Duration `json:"time_window,omitempty" yaml:"time_window,omitempty"`
	// Buckets is in how many steps a TimeWindow moves on. 0 means
	// [DefaultBuckets].
	Buckets int `json:"buckets,omitempty" yaml:"buckets,omitempty"`
	// FailureRatio is the share of failures, from above 0 to 1, at which the
	// breaker opens. 0 means [DefaultFailureRatio]; [NoFailureRatio] switches
	// the rule off.
	FailureRatio float64 `json:"failure_ratio,omitempty" yaml:"failure_ratio,omitempty"`
	// MinCalls is how many calls the window must hold before a ratio is
	// judged. 0 means [DefaultMinCalls], or Window where that is less.
	MinCalls int `json:"min_calls,omitempty" yaml:"min_calls,omitempty"`
	// Consecutive is the number of failures in a row at which the breaker
	// opens, whatever MinCalls says. 0 switches the rule off.
	Consecutive int `json:"consecutive,omitempty" yaml:"consecutive,omitempty"`
	// SlowAfter is the time after which a call is slow; it runs from permit to
	// headers or reply, never over a queue of ours. An attempt that was cut by
	// its caller's own deadline is a failure if it had run that long, and
	// neutral otherwise. 0 means that no call is slow.
	SlowAfter time.Duration `json:"slow_after,omitempty" yaml:"slow_after,omitempty"`
	// SlowRatio is the share of slow calls, from above 0 to 1, at which the
	// breaker opens; a slow probe then counts as a failed one. It needs
	// SlowAfter. 0 switches the rule off.
	SlowRatio float64 `json:"slow_ratio,omitempty" yaml:"slow_ratio,omitempty"`
	// OpenFor is how long the breaker stays open before it lets a probe pass.
	// It doubles with every opening whose probes fail, up to MaxOpenFor, and
	// starts anew once the breaker was closed. 0 means [DefaultOpenFor].
	OpenFor time.Duration `json:"open_for,omitempty" yaml:"open_for,omitempty"`
	// MaxOpenFor bounds the doubling. 0 means [DefaultMaxOpenFor], or OpenFor
	// where that is more.
	MaxOpenFor time.Duration `json:"max_open_for,omitempty" yaml:"max_open_for,omitempty"`
	// Probes is how many calls half-open admits, and how many must succeed in
	// a row to close. 0 means [DefaultProbes].
	Probes int `json:"probes,omitempty" yaml:"probes,omitempty"`
	// ProbeLease is the time after which a probe that has not come back gives
	// its place to another call. 0 means [DefaultProbeLease].
	ProbeLease time.Duration `json:"probe_lease,omitempty" yaml:"probe_lease,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(slices.Concat(c.windowRules(), c.tripRules(), c.openRules())...)
}

func (c Config) windowRules() []backstay.Setting {
	buckets := c.withDefaults().Buckets
	return []backstay.Setting{
		whole("window", c.Window, maxCalls, "must be from 1 to 10000, or 0 for the default of 20"),
		{
			Path: "window", Value: c.Window, Valid: c.Window == 0 || c.TimeWindow == 0,
			Allowed: "must be 0 where time_window is set: a window is of calls or of time",
		}, {
			Path: "time_window", Value: c.TimeWindow,
			Valid:   c.TimeWindow == 0 || between(c.TimeWindow, minWait*time.Duration(max(buckets, 1)), maxWindow),
			Allowed: "must be from 1ms a bucket to 1h, or 0 for a window of calls",
		},
		whole("buckets", c.Buckets, maxBucket, "must be from 1 to 100, or 0 for the default of 10"),
		{
			Path: "buckets", Value: c.Buckets, Valid: c.Buckets == 0 || c.TimeWindow != 0,
			Allowed: "must be 0 where there is no time_window",
		},
	}
}

func (c Config) tripRules() []backstay.Setting {
	return []backstay.Setting{
		{
			Path: "failure_ratio", Value: c.FailureRatio,
			Valid:   c.FailureRatio == NoFailureRatio || ratio(c.FailureRatio),
			Allowed: "must be above 0 and at most 1, 0 for the default of 0.5, or -1 to switch the rule off",
		},
		whole("min_calls", c.MinCalls, maxCalls, "must be from 1 to 10000, or 0 for the default of 10"),
		{
			Path: "min_calls", Value: c.MinCalls,
			Valid:   c.TimeWindow != 0 || c.MinCalls == 0 || c.MinCalls <= c.withDefaults().Window,
			Allowed: "must be at most window: else the breaker could never open",
		},
		whole("consecutive", c.Consecutive, maxCalls, "must be from 1 to 10000, or 0 to switch the rule off"),
		{
			Path: "slow_after", Value: c.SlowAfter, Valid: c.SlowAfter == 0 || between(c.SlowAfter, 1, maxWait),
			Allowed: "must be from 1ns to 24h, or 0 where no call is slow",
		}, {
			Path: "slow_ratio", Value: c.SlowRatio, Valid: ratio(c.SlowRatio),
			Allowed: "must be above 0 and at most 1, or 0 to switch the rule off",
		}, {
			Path: "slow_ratio", Value: c.SlowRatio, Valid: c.SlowRatio == 0 || c.SlowAfter != 0,
			Allowed: "must be 0 where slow_after is not set",
		}, {
			Path: "failure_ratio", Value: c.FailureRatio,
			Valid:   c.FailureRatio != NoFailureRatio || c.Consecutive != 0 || c.SlowRatio != 0,
			Allowed: "must not be -1 where consecutive and slow_ratio are off: nothing could open the breaker",
		},
	}
}

func (c Config) openRules() []backstay.Setting {
	return []backstay.Setting{
		wait("open_for", c.OpenFor, "must be from 1ms to 24h, or 0 for the default of 5s"),
		wait("max_open_for", c.MaxOpenFor, "must be from 1ms to 24h, or 0 for the default of 1m"),
		{
			Path: "max_open_for", Value: c.MaxOpenFor, Valid: c.MaxOpenFor == 0 || c.MaxOpenFor >= c.withDefaults().OpenFor,
			Allowed: "must be at least open_for",
		},
		whole("probes", c.Probes, maxProbes, "must be from 1 to 1000, or 0 for the default of 1"),
		wait("probe_lease", c.ProbeLease, "must be from 1ms to 24h, or 0 for the default of 30s"),
	}
}

func whole(path string, n, high int, allowed string) backstay.Setting {
	return backstay.Setting{Path: path, Value: n, Valid: n >= 0 && n <= high, Allowed: allowed}
}

func wait(path string, d time.Duration, allowed string) backstay.Setting {
	return backstay.Setting{Path: path, Value: d, Valid: d == 0 || between(d, minWait, maxWait), Allowed: allowed}
}

func between(d, low, high time.Duration) bool { return d >= low && d <= high }

func ratio(r float64) bool { return r >= 0 && r <= 1 } // false for NaN

func (c Config) withDefaults() Config {
	if c.TimeWindow == 0 {
		c.Window = cmp.Or(c.Window, DefaultWindow)
		c.MinCalls = cmp.Or(c.MinCalls, min(DefaultMinCalls, c.Window))
	} else {
		c.Buckets = cmp.Or(c.Buckets, DefaultBuckets)
		c.MinCalls = cmp.Or(c.MinCalls, DefaultMinCalls)
	}
	c.FailureRatio = cmp.Or(c.FailureRatio, DefaultFailureRatio)
	c.OpenFor = cmp.Or(c.OpenFor, DefaultOpenFor)
	c.MaxOpenFor = cmp.Or(c.MaxOpenFor, max(DefaultMaxOpenFor, c.OpenFor))
	c.Probes = cmp.Or(c.Probes, DefaultProbes)
	c.ProbeLease = cmp.Or(c.ProbeLease, DefaultProbeLease)
	return c
}
