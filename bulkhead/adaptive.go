package bulkhead

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// The algorithms of an adaptive limit.
const (
	// Gradient compares latencies: the limit shrinks where calls take longer
	// than they do on an idle backend.
	Gradient = "gradient"
	// AIMD looks at congestion only: the limit grows by one call at a time,
	// and is cut where calls are refused for overload or time out.
	AIMD = "aimd"
)

// The defaults of an [AdaptiveConfig].
const (
	DefaultMin       = 4
	DefaultMax       = 1024
	DefaultWindow    = 100 * time.Millisecond
	DefaultTolerance = 1.5
	DefaultRemeasure = 30 * time.Second
	DefaultDecrease  = 0.7
)

// AdaptiveConfig lets the limit follow the backend. It is reconsidered at the
// end of every window, from the calls that ended in it: their mean latency,
// and how many met congestion (an overload, or a timeout that was not the
// caller's own).
type AdaptiveConfig struct {
	// Algorithm is [Gradient] or [AIMD]. "" means [Gradient].
	Algorithm string `json:"algorithm,omitempty" yaml:"algorithm,omitempty"`
	// Min and Max are the floor and the ceiling of the limit. 0 means
	// [DefaultMin] and [DefaultMax]. The limit starts from [Config].Limit, which must lie between
	// them; its default is moved there.
	Min int64 `json:"min,omitempty" yaml:"min,omitempty"`
	Max int64 `json:"max,omitempty" yaml:"max,omitempty"`
	// Window is the least time between two changes. It lasts until 10 calls
	// have ended, too. 0 means [DefaultWindow].
	Window time.Duration `json:"window,omitempty" yaml:"window,omitempty"`
	// Tolerance is how many times the latency of an idle backend is still
	// good. Gradient only. 0 means [DefaultTolerance].
	Tolerance float64 `json:"tolerance,omitempty" yaml:"tolerance,omitempty"`
	// Remeasure is how often the latency of an idle backend is measured
	// afresh, by half the limit for one window: without that, a backend that
	// has become slower for good would be taken for an overloaded one.
	// Gradient only. 0 means [DefaultRemeasure].
	Remeasure time.Duration `json:"remeasure,omitempty" yaml:"remeasure,omitempty"`
	// Decrease is what the limit is multiplied with on congestion. AIMD only.
	// 0 means [DefaultDecrease].
	Decrease float64 `json:"decrease,omitempty" yaml:"decrease,omitempty"`
}

func (c *AdaptiveConfig) settings(limit int64) []backstay.Setting {
	if c == nil {
		return nil
	}
	d := c.withDefaults()
	return []backstay.Setting{
		{
			Path: "adaptive.algorithm", Value: c.Algorithm,
			Valid:   d.Algorithm == Gradient || d.Algorithm == AIMD,
			Allowed: "must be gradient or aimd",
		}, {
			Path: "adaptive.min", Value: c.Min,
			Valid:   d.Min >= 1 && d.Min <= maxLimit,
			Allowed: "must be from 1 to 2^48, or 0 for the default of 4",
		}, {
			Path: "adaptive.max", Value: c.Max,
			Valid:   d.Max >= d.Min && d.Max <= maxLimit,
			Allowed: "must be from min to 2^48, or 0 for the default of 1024",
		}, {
			Path: "limit", Value: limit,
			Valid:   limit == 0 || (limit >= d.Min && limit <= d.Max),
			Allowed: "must be between adaptive.min and adaptive.max, or 0",
		}, {
			Path: "adaptive.window", Value: c.Window,
			Valid:   d.Window >= time.Millisecond && d.Window <= time.Minute,
			Allowed: "must be from 1ms to 1m, or 0 for the default of 100ms",
		}, {
			Path: "adaptive.tolerance", Value: c.Tolerance,
			Valid:   d.Tolerance >= 1 && d.Tolerance <= 100,
			Allowed: "must be from 1 to 100, or 0 for the default of 1.5",
		}, {
			Path: "adaptive.remeasure", Value: c.Remeasure,
			Valid:   d.Remeasure >= time.Second && d.Remeasure <= maxWait,
			Allowed: "must be from 1s to 24h, or 0 for the default of 30s",
		}, {
			Path: "adaptive.decrease", Value: c.Decrease,
			Valid:   d.Decrease > 0 && d.Decrease < 1,
			Allowed: "must be above 0 and below 1, or 0 for the default of 0.7",
		},
	}
}

func (c AdaptiveConfig) withDefaults() AdaptiveConfig {
	c.Algorithm = cmp.Or(c.Algorithm, Gradient)
	c.Min = cmp.Or(c.Min, DefaultMin)
	c.Max = cmp.Or(c.Max, DefaultMax)
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.Tolerance = cmp.Or(c.Tolerance, DefaultTolerance)
	c.Remeasure = cmp.Or(c.Remeasure, DefaultRemeasure)
	c.Decrease = cmp.Or(c.Decrease, DefaultDecrease)
	return c
}

// start is where the limit starts.
func (c *AdaptiveConfig) start(limit int64) int64 {
	if limit == 0 {
		limit = min(max(DefaultLimit, c.Min), c.Max)
	}
	return limit
}

// An adaptive is a limit that follows the backend.
type adaptive struct {
	limit  atomic.Int64
	mu     sync.Mutex
	window window
	course course
}

func newAdaptive(p *plan) *adaptive {
	if p.adaptive == nil {
		return nil
	}
	a := &adaptive{course: course{limit: float64(p.limit)}}
	a.limit.Store(p.limit)
	return a
}

// sample tells an adaptive limit how a call ended that still holds its permit.
func (b *Bulkhead) sample(ctx context.Context, began backstay.Instant, o backstay.Outcome, err error) {
	s, ok := judge(o, err)
	if !ok {
		return
	}
	now := backstay.Now()
	s.began, s.latency, s.inFlight = began, now.Sub(began), b.inFlight.Load()
	if limit, changed := b.more.adaptive.add(b.plan.Load().adaptive, s, now); changed {
		b.wake()
		b.scope.Emit(ctx, backstay.Event{Kind: backstay.LimitChanged, Limit: limit})
	}
}

// judge says what an end tells about congestion. Answers tell by their latency,
// overloads and timeouts by themselves; other failures are quick or slow for
// reasons of their own, and a caller who gave up tells about the caller.
func judge(o backstay.Outcome, err error) (s sample, ok bool) {
	switch o.Class {
	case backstay.Success, backstay.Permanent:
		return sample{}, true
	case backstay.Overload:
		return sample{congested: true}, true
	case backstay.Transient:
		return sample{congested: true}, timedOut(err)
	default:
		return sample{}, false
	}
}

func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}

// add counts a sample and, at the end of a window, sets the limit.
func (a *adaptive) add(c *AdaptiveConfig, s sample, now backstay.Instant) (limit int64, changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.window.began == 0 {
		a.window.began = now
		a.course.measured = now
	}
	if a.course.measuring() && s.began < a.window.began {
		return 0, false // it has run beside more calls than are to be measured
	}
	a.window.add(s)
	if a.window.count < leastSamples || now.Sub(a.window.began) < c.Window {
		return 0, false
	}
	a.course = a.course.next(c, a.window, now)
	a.window = window{began: now}
	limit = int64(a.course.limit)
	return limit, a.limit.Swap(limit) != limit
}
