package console

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [Config].
const (
	DefaultTitle        = "Backstay"
	DefaultInterval     = time.Second
	DefaultPageSize     = 50
	DefaultMaxPipelines = 20_000
	DefaultMaxKeys      = 10_000
	DefaultMaxWatchers  = 32
)

// What [Config.Validate] allows.
const (
	minInterval  = 100 * time.Millisecond
	maxInterval  = time.Minute
	maxPageSize  = 500
	maxPipelines = 1_000_000
	maxWatchers  = 10_000
	maxTitle     = 100
)

// Config is the data of a [Console]. The zero value is the default.
type Config struct {
	// Title is the page's. "" means [DefaultTitle].
	Title string `json:"title,omitempty" yaml:"title,omitempty"`
	// Interval is the time between two looks at the pipelines, while somebody
	// watches. It is stretched where a look takes longer than a tenth of it.
	// 0 means [DefaultInterval].
	Interval time.Duration `json:"interval,omitempty" yaml:"interval,omitempty"`
	// PageSize is how many pipelines are shown at once. 0 means
	// [DefaultPageSize].
	PageSize int `json:"page_size,omitempty" yaml:"page_size,omitempty"`
	// MaxPipelines is how many pipelines are looked at; the page says how many
	// are left out. 0 means [DefaultMaxPipelines].
	MaxPipelines int `json:"max_pipelines,omitempty" yaml:"max_pipelines,omitempty"`
	// MaxKeys is for how many keys of one target the observer remembers rates,
	// latencies and transitions, at up to 4 KiB a key; those least recently
	// heard of are forgotten. 0 means [DefaultMaxKeys].
	MaxKeys int `json:"max_keys,omitempty" yaml:"max_keys,omitempty"`
	// MaxWatchers is how many streams of events there may be at once; further
	// pages ask from time to time instead. 0 means [DefaultMaxWatchers].
	MaxWatchers int `json:"max_watchers,omitempty" yaml:"max_watchers,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(
		backstay.Setting{
			Path: "title", Value: c.Title, Valid: len(c.Title) <= maxTitle,
			Allowed: "must be at most 100 bytes long",
		},
		backstay.Setting{
			Path: "interval", Value: c.Interval,
			Valid:   c.Interval == 0 || c.Interval >= minInterval && c.Interval <= maxInterval,
			Allowed: "must be from 100ms to 1m, or 0 for the default of 1s",
		},
		upTo("page_size", c.PageSize, maxPageSize, "must be from 1 to 500, or 0 for the default of 50"),
		upTo("max_pipelines", c.MaxPipelines, maxPipelines, "must be from 1 to 1000000, or 0 for the default of 20000"),
		upTo("max_keys", c.MaxKeys, maxPipelines, "must be from 1 to 1000000, or 0 for the default of 10000"),
		upTo("max_watchers", c.MaxWatchers, maxWatchers, "must be from 1 to 10000, or 0 for the default of 32"),
	)
}

func upTo(path string, n, high int, allowed string) backstay.Setting {
	return backstay.Setting{Path: path, Value: n, Valid: n >= 0 && n <= high, Allowed: allowed}
}

func (c Config) withDefaults() Config {
	c.Title = cmp.Or(c.Title, DefaultTitle)
	c.Interval = cmp.Or(c.Interval, DefaultInterval)
	c.PageSize = cmp.Or(c.PageSize, DefaultPageSize)
	c.MaxPipelines = cmp.Or(c.MaxPipelines, DefaultMaxPipelines)
	c.MaxKeys = cmp.Or(c.MaxKeys, DefaultMaxKeys)
	c.MaxWatchers = cmp.Or(c.MaxWatchers, DefaultMaxWatchers)
	return c
}
