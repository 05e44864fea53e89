package fallback

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [CacheConfig].
const (
	DefaultMaxEntries     = 1_000
	DefaultMaxAge         = 5 * time.Minute
	DefaultRefreshTimeout = 10 * time.Second
	DefaultRefreshEvery   = time.Second
	DefaultMaxRefreshes   = 8
)

// Config is the part of a [Ladder] that is data; the rungs are code. The zero
// value is valid: no drills, and the cache's defaults.
type Config struct {
	// FailClosed marks a call that must refuse rather than degrade, such as
	// an authorization: rungs or drills beside it are a fault, so that nobody
	// puts a ladder there by mistake.
	FailClosed bool `json:"fail_closed,omitempty" yaml:"fail_closed,omitempty"`
	// DrillShare is the share of calls, from 0 to 1, that take the ladder on
	// purpose instead of being made, so that the path is known to work before
	// it is needed. A drill that no rung answers is made as an ordinary call.
	// 0 means none.
	DrillShare float64 `json:"drill_share,omitempty" yaml:"drill_share,omitempty"`
	// Cache bounds what a [Cached] rung keeps and how it is refreshed.
	Cache CacheConfig `json:"cache,omitzero" yaml:"cache,omitempty"`
}

// CacheConfig bounds a [Cached] rung. Each [Ladder] has a cache of its own.
type CacheConfig struct {
	// MaxEntries is how many keys are kept; the least recently used one makes
	// room. 0 means [DefaultMaxEntries].
	MaxEntries int `json:"max_entries,omitempty" yaml:"max_entries,omitempty"`
	// MaxAge is how old a value may be and still be served. 0 means [DefaultMaxAge].
	MaxAge time.Duration `json:"max_age,omitempty" yaml:"max_age,omitempty"`
	// RefreshTimeout bounds one background refresh. 0 means [DefaultRefreshTimeout].
	RefreshTimeout time.Duration `json:"refresh_timeout,omitempty" yaml:"refresh_timeout,omitempty"`
	// RefreshEvery is the least time from the end of one refresh of a key to
	// the start of the next: a backend that fails fast is not called once
	// more for every stale answer. 0 means [DefaultRefreshEvery].
	RefreshEvery time.Duration `json:"refresh_every,omitempty" yaml:"refresh_every,omitempty"`
	// MaxRefreshes is how many refreshes run at once, over all keys; beyond
	// it a stale value is served without one. 0 means [DefaultMaxRefreshes].
	MaxRefreshes int `json:"max_refreshes,omitempty" yaml:"max_refreshes,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(
		backstay.Setting{Path: "drill_share", Value: c.DrillShare,
			Valid: c.DrillShare >= 0 && c.DrillShare <= 1, Allowed: "must be from 0 to 1"},
		backstay.Setting{Path: "fail_closed", Value: c.FailClosed,
			Valid: !c.FailClosed || c.DrillShare == 0, Allowed: "must not be set together with drill_share"},
		notNegative("cache.max_entries", c.Cache.MaxEntries),
		notNegative("cache.max_age", c.Cache.MaxAge),
		notNegative("cache.refresh_timeout", c.Cache.RefreshTimeout),
		notNegative("cache.refresh_every", c.Cache.RefreshEvery),
		notNegative("cache.max_refreshes", c.Cache.MaxRefreshes),
	)
}

func notNegative[N int | time.Duration](path string, n N) backstay.Setting {
	return backstay.Setting{Path: path, Value: n, Valid: n >= 0, Allowed: "must be at least 0 (0: the default)"}
}

// withDefaults fills in what was left at zero.
func (c CacheConfig) withDefaults() CacheConfig {
	c.MaxEntries = cmp.Or(c.MaxEntries, DefaultMaxEntries)
	c.MaxAge = cmp.Or(c.MaxAge, DefaultMaxAge)
	c.RefreshTimeout = cmp.Or(c.RefreshTimeout, DefaultRefreshTimeout)
	c.RefreshEvery = cmp.Or(c.RefreshEvery, DefaultRefreshEvery)
	c.MaxRefreshes = cmp.Or(c.MaxRefreshes, DefaultMaxRefreshes)
	return c
}
