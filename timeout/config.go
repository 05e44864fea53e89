package timeout

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay"
)

// DefaultAfter is the limit of one attempt where Config.After is zero.
const DefaultAfter = 2 * time.Second

// Off, as [Config].After or for [With], means that attempts have no limit of
// their own.
const Off time.Duration = -1

// Config is the data of a [Policy]. The zero value is the default.
type Config struct {
	// After bounds one attempt, from the moment it is sent to the response
	// headers or the reply. 0 means [DefaultAfter]; [Off] means no limit.
	After time.Duration `json:"after,omitempty" yaml:"after,omitempty"`
	// Abandon makes the call return at the limit even if the callee ignores
	// its cancellation. It costs a goroutine a call; what the callee holds
	// (permit, probe, connection) stays held until it really returns.
	Abandon bool `json:"abandon,omitempty" yaml:"abandon,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(backstay.Setting{
		Path: "after", Value: c.After,
		Valid:   c.After >= 0 || c.After == Off,
		Allowed: "must be positive, 0 for the default of 2s, or timeout.Off",
	})
}

func (c Config) withDefaults() Config {
	c.After = cmp.Or(c.After, DefaultAfter)
	return c
}
