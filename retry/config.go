package retry

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [Config].
const (
	DefaultMaxAttempts    = 3
	DefaultBase           = 100 * time.Millisecond
	DefaultCap            = 2 * time.Second
	DefaultMultiplier     = 2.0
	DefaultMaxServerWait  = 30 * time.Second
	DefaultMinAttemptTime = 10 * time.Millisecond
)

// NoWait means, as [Config].Base, that attempts follow one another at once, and
// as [Config].MaxServerWait, that no wait of a server's is accepted.
const NoWait time.Duration = -1

// Config is the data of a [Policy]. The zero value is the default.
type Config struct {
	// MaxAttempts is how many attempts a call makes at most, the first one
	// included. 0 means [DefaultMaxAttempts]; 1 means no retries. More than
	// four need a budget that has earned them: a quiet caller has its burst of
	// 3 retries in 10 s, so raise Budget.Burst with it.
	MaxAttempts int `json:"max_attempts,omitempty" yaml:"max_attempts,omitempty"`
	// Base bounds the first wait, which is uniform in [0, Base]. 0 means
	// [DefaultBase]; [NoWait] means that waits are always zero.
	Base time.Duration `json:"base,omitempty" yaml:"base,omitempty"`
	// Cap bounds every wait of our own. 0 means [DefaultCap].
	Cap time.Duration `json:"cap,omitempty" yaml:"cap,omitempty"`
	// Multiplier is what the bound of the wait grows by from wait to wait. 0
	// means [DefaultMultiplier]; 1 means that it stays at Base.
	Multiplier float64 `json:"multiplier,omitempty" yaml:"multiplier,omitempty"`
	// MaxServerWait bounds a wait that a server asked for, our own jitter on
	// top of it included. 0 means [DefaultMaxServerWait]; [NoWait] means that
	// an answer that asks for a wait is returned at once.
	MaxServerWait time.Duration `json:"max_server_wait,omitempty" yaml:"max_server_wait,omitempty"`
	// MinAttemptTime is what must be left of the caller's deadline after a
	// wait for another attempt to be worth it. 0 means [DefaultMinAttemptTime].
	MinAttemptTime time.Duration `json:"min_attempt_time,omitempty" yaml:"min_attempt_time,omitempty"`
	// RetryNested makes the policy retry also where a layer above retries
	// already, see [Suppress].
	RetryNested bool `json:"retry_nested,omitempty" yaml:"retry_nested,omitempty"`
	// Budget bounds the retries of all calls together; [NoBudget] switches it
	// off. It has no effect beside [WithBudget].
	Budget BudgetConfig `json:"budget,omitzero" yaml:"budget,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	d := c.withDefaults()
	return errors.Join(
		backstay.Check(
			backstay.Setting{
				Path: "max_attempts", Value: c.MaxAttempts, Valid: c.MaxAttempts >= 0,
				Allowed: "must be at least 1, or 0 for the default of 3",
			},
			backstay.Setting{
				Path: "base", Value: c.Base, Valid: c.Base >= 0 || c.Base == NoWait,
				Allowed: "must be positive, 0 for the default of 100ms, or retry.NoWait",
			},
			backstay.Setting{
				Path: "cap", Value: c.Cap, Valid: c.Cap >= 0,
				Allowed: "must be positive, or 0 for the default of 2s",
			},
			backstay.Setting{
				Path: "multiplier", Value: c.Multiplier,
				Valid:   c.Multiplier == 0 || (c.Multiplier >= 1 && c.Multiplier <= math.MaxFloat64),
				Allowed: "must be a finite number of at least 1, or 0 for the default of 2",
			},
			backstay.Setting{
				Path: "max_server_wait", Value: c.MaxServerWait, Valid: c.MaxServerWait >= 0 || c.MaxServerWait == NoWait,
				Allowed: "must be positive, 0 for the default of 30s, or retry.NoWait",
			},
			backstay.Setting{
				Path: "min_attempt_time", Value: c.MinAttemptTime, Valid: c.MinAttemptTime >= 0,
				Allowed: "must be positive, or 0 for the default of 10ms",
			},
			d.growth(c),
		),
		backstay.Under("budget", c.Budget.Validate()),
	)
}

// growth says that a wait must not begin above its cap. The fault is put where
// set, the configuration as it was given, says something.
func (c Config) growth(set Config) backstay.Setting {
	s := backstay.Setting{Valid: c.Base <= c.Cap || c.Cap < 0}
	if set.Base != 0 {
		s.Path, s.Value = "base", c.Base
		s.Allowed = fmt.Sprintf("must be at most cap, which is %v", c.Cap)
	} else {
		s.Path, s.Value = "cap", c.Cap
		s.Allowed = fmt.Sprintf("must be at least base, which is %v", c.Base)
	}
	return s
}

func (c Config) withDefaults() Config {
	c.MaxAttempts = cmp.Or(c.MaxAttempts, DefaultMaxAttempts)
	c.Base = cmp.Or(c.Base, DefaultBase)
	c.Cap = cmp.Or(c.Cap, DefaultCap)
	c.Multiplier = cmp.Or(c.Multiplier, DefaultMultiplier)
	c.MaxServerWait = cmp.Or(c.MaxServerWait, DefaultMaxServerWait)
	c.MinAttemptTime = cmp.Or(c.MinAttemptTime, DefaultMinAttemptTime)
	c.Budget = c.Budget.withDefaults()
	return c
}
