package keyed

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay"
)

const (
	// DefaultMaxKeys bounds a map whose Config.MaxKeys is zero.
	DefaultMaxKeys = 10_000
	// DefaultIdleAfter is when a key is given up whose map has no
	// Config.IdleAfter.
	DefaultIdleAfter = 10 * time.Minute
)

// Config bounds a [Map]. The zero value is the default.
type Config struct {
	// MaxKeys is how many keys there are at most; busy ones may exceed it.
	// 0 means [DefaultMaxKeys].
	MaxKeys int
	// IdleAfter is how long a key must be unused to be given up before the
	// bound is reached. It is kept to within two seconds, never early. 0 means
	// [DefaultIdleAfter].
	IdleAfter time.Duration
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(
		backstay.Setting{
			Path: "max_keys", Value: c.MaxKeys, Valid: c.MaxKeys >= 0,
			Allowed: "must be positive, or 0 for the default of 10000",
		},
		backstay.Setting{
			Path: "idle_after", Value: c.IdleAfter, Valid: c.IdleAfter >= 0,
			Allowed: "must be positive, or 0 for the default of 10m",
		},
	)
}

func (c Config) withDefaults() Config {
	c.MaxKeys = cmp.Or(c.MaxKeys, DefaultMaxKeys)
	c.IdleAfter = cmp.Or(c.IdleAfter, DefaultIdleAfter)
	return c
}

// Hooks are what a [Map] asks and tells. Either may be nil. They run outside
// every lock, on the goroutine that creates a key, and may use the map.
type Hooks[T any] struct {
	// Busy reports whether v is in use, so that its key must stay. It should
	// be quick: a creation at the bound asks up to 64 times.
	Busy func(v T) bool
	// Evicted is told of each key that was given up, after it has left the
	// map; keys that [Map.Delete] removed are not reported. Whoever got v
	// before may still be using it.
	Evicted func(key string, v T)
}
