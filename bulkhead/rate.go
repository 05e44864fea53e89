package bulkhead

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/backstay-go/backstay"
)

// A rater bounds how many calls start per second.
type rater struct{ limiter *rate.Limiter }

func newRater(c *RateConfig) *rater {
	if c == nil {
		return nil
	}
	return &rater{rate.NewLimiter(rate.Limit(c.PerSecond), c.Burst)}
}

// spend takes the right to start one call, or says after what time there will
// be one.
func (r *rater) spend(now backstay.Instant) (after time.Duration, ok bool) {
	if r.limiter.AllowN(now.Time(), 1) {
		return 0, true
	}
	after, _ = r.peek(now)
	return max(1, after), false
}

// peek is spend that takes nothing.
func (r *rater) peek(now backstay.Instant) (after time.Duration, ok bool) {
	missing := 1 - r.limiter.TokensAt(now.Time())
	if missing <= 0 {
		return 0, true
	}
	return 1 + time.Duration(missing/float64(r.limiter.Limit())*float64(time.Second)), false
}
