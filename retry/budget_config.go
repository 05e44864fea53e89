package retry

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [BudgetConfig].
const (
	DefaultRatio  = 0.1
	DefaultWindow = 10 * time.Second
	DefaultBurst  = 3
)

// NoBurst means, as [BudgetConfig].Burst, that only calls earn retries.
const NoBurst = -1

// NoBudget switches the budget of a policy off. A total outage then costs the
// backend MaxAttempts times the load; it is for tests and for callers that are
// bounded in another way.
var NoBudget = BudgetConfig{Off: true}

// BudgetConfig is the data of a [Budget]. The zero value is the default.
type BudgetConfig struct {
	// Off means that retries are not counted; see [NoBudget].
	Off bool `json:"off,omitempty" yaml:"off,omitempty"`
	// Ratio is the share of a retry that every call earns, counted in
	// thousandths and rounded down: 0.1 allows one retry for ten calls. 0
	// means [DefaultRatio].
	Ratio float64 `json:"ratio,omitempty" yaml:"ratio,omitempty"`
	// Window is how long what a call earned can be spent (a bookkeeping in
	// fifths lets it expire up to a fifth earlier), and the time in which one
	// token of the burst grows back. 0 means [DefaultWindow].
	Window time.Duration `json:"window,omitempty" yaml:"window,omitempty"`
	// Burst is how many retries are allowed without having been earned, so
	// that a caller with little traffic can retry at all. 0 means
	// [DefaultBurst]; [NoBurst] means none.
	Burst int `json:"burst,omitempty" yaml:"burst,omitempty"`
}

// What Validate accepts: a finer ratio could not be counted, and a shorter
// window would forget what a call earned before the call has failed.
const (
	minRatio  = 1.0 / token
	minWindow = time.Millisecond
	maxBurst  = 1_000_000
)

// Validate returns every fault at once, each a [backstay.FieldError].
func (c BudgetConfig) Validate() error {
	return backstay.Check(
		backstay.Setting{
			Path: "ratio", Value: c.Ratio, Valid: c.Ratio == 0 || (c.Ratio >= minRatio && c.Ratio <= 1),
			Allowed: "must be between 0.001 and 1, or 0 for the default of 0.1",
		},
		backstay.Setting{
			Path: "window", Value: c.Window, Valid: c.Window == 0 || c.Window >= minWindow,
			Allowed: "must be at least 1ms, or 0 for the default of 10s",
		},
		backstay.Setting{
			Path: "burst", Value: c.Burst, Valid: c.Burst == NoBurst || (c.Burst >= 0 && c.Burst <= maxBurst),
			Allowed: "must be between 1 and 1000000, 0 for the default of 3, or retry.NoBurst",
		},
	)
}

func (c BudgetConfig) withDefaults() BudgetConfig {
	c.Ratio = cmp.Or(c.Ratio, DefaultRatio)
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.Burst = cmp.Or(c.Burst, DefaultBurst)
	return c
}

// limits are a valid configuration in the units that a [Budget] counts in. All
// budgets that were made from one configuration share them.
type limits struct {
	slot    time.Duration // a fifth of the window
	deposit uint32        // what a call earns
	burst   uint32        // the most that the burst holds
	off     bool
}

func (c BudgetConfig) limits() *limits {
	c = c.withDefaults()
	return &limits{
		slot:    c.Window / slots,
		deposit: uint32(c.Ratio * token),
		burst:   uint32(max(c.Burst, 0)) * token,
		off:     c.Off,
	}
}
