package idempotency

import (
	"cmp"
	"math"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [GuardConfig].
const (
	DefaultLease      = 30 * time.Second
	DefaultRetention  = 24 * time.Hour
	DefaultMaxWait    = time.Minute
	DefaultRetryAfter = time.Second
	DefaultGrace      = 5 * time.Second
	DefaultPoll       = 250 * time.Millisecond
	DefaultMaxBody    = 1 << 20
	DefaultMaxAnswer  = 256 << 10
)

// NoWait, as [GuardConfig].MaxWait, refuses at once what is in flight.
const NoWait time.Duration = -1

// NoGrace, as [GuardConfig].Grace, ends the work's context together with its
// caller's.
const NoGrace time.Duration = -1

// GuardConfig is the data of a [Guard]. The zero value is the default.
type GuardConfig struct {
	// Required refuses work that comes without a key. Otherwise such work is
	// done, unprotected.
	Required bool `json:"required,omitempty" yaml:"required,omitempty"`
	// Lease is for how long a key stays in flight after its owner was killed.
	// Owners renew it three times as often. 0 means [DefaultLease].
	Lease time.Duration `json:"lease,omitempty" yaml:"lease,omitempty"`
	// Retention is for how long an answer is kept, counted from the end of the
	// work. 0 means [DefaultRetention].
	Retention time.Duration `json:"retention,omitempty" yaml:"retention,omitempty"`
	// MaxWait is for how long a repetition waits for the answer of work in
	// flight; its own deadline bounds it further. 0 means [DefaultMaxWait];
	// [NoWait] refuses at once.
	MaxWait time.Duration `json:"max_wait,omitempty" yaml:"max_wait,omitempty"`
	// RetryAfter is what a repetition is told that is refused because the work
	// is in flight, or the store is full. 0 means [DefaultRetryAfter].
	RetryAfter time.Duration `json:"retry_after,omitempty" yaml:"retry_after,omitempty"`
	// Grace is for how long work may go on after its caller has given up, by
	// cancelling or by its deadline: a caller that comes back gets the answer.
	// 0 means [DefaultGrace]; [NoGrace] ends the work's context with the
	// caller's.
	Grace time.Duration `json:"grace,omitempty" yaml:"grace,omitempty"`
	// Poll is the longest pause between two looks at a store that is no
	// [Waiter]; the first pauses are shorter. 0 means [DefaultPoll].
	Poll time.Duration `json:"poll,omitempty" yaml:"poll,omitempty"`
	// MaxBody is the largest body, in bytes, that [Guard.ReadBody] reads.
	// 0 means [DefaultMaxBody].
	MaxBody int64 `json:"max_body,omitempty" yaml:"max_body,omitempty"`
	// MaxAnswer is the largest answer, in bytes, that is kept; of a larger one
	// only is kept that the work was done. 0 means [DefaultMaxAnswer].
	MaxAnswer int64 `json:"max_answer,omitempty" yaml:"max_answer,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c GuardConfig) Validate() error {
	const year = 365 * 24 * time.Hour
	between := func(path string, d, least, most time.Duration, also string) backstay.Setting {
		return backstay.Setting{Path: path, Value: d, Valid: d == 0 || d >= least && d <= most,
			Allowed: "must be from " + least.String() + " to " + most.String() + also}
	}
	orOff := func(path string, d, off, most time.Duration, name string) backstay.Setting {
		s := between(path, d, time.Millisecond, most, " or -1ns ("+name+")")
		s.Valid = s.Valid || d == off
		return s
	}
	full := c.withDefaults()
	return backstay.Check(
		between("lease", c.Lease, 10*time.Millisecond, 24*time.Hour, ""),
		between("retention", c.Retention, time.Millisecond, 10*year, ""),
		backstay.Setting{Path: "retention", Value: c.Retention, Valid: c.Retention < 0 || full.Retention >= full.Lease,
			Allowed: "must be at least the lease, " + full.Lease.String()},
		orOff("max_wait", c.MaxWait, NoWait, 24*time.Hour, "NoWait"),
		between("retry_after", c.RetryAfter, time.Millisecond, time.Hour, ""),
		orOff("grace", c.Grace, NoGrace, 24*time.Hour, "NoGrace"),
		between("poll", c.Poll, time.Millisecond, time.Minute, ""),
		bytesUpTo("max_body", c.MaxBody),
		bytesUpTo("max_answer", c.MaxAnswer),
	)
}

func bytesUpTo(path string, n int64) backstay.Setting {
	return backstay.Setting{Path: path, Value: n, Valid: n >= 0 && n <= math.MaxInt32,
		Allowed: "must be from 1 to 2147483647 bytes"}
}

func (c GuardConfig) withDefaults() GuardConfig {
	c.Lease = cmp.Or(c.Lease, DefaultLease)
	c.Retention = cmp.Or(c.Retention, DefaultRetention)
	c.MaxWait = cmp.Or(c.MaxWait, DefaultMaxWait)
	c.RetryAfter = cmp.Or(c.RetryAfter, DefaultRetryAfter)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
	c.Poll = cmp.Or(c.Poll, DefaultPoll)
	c.MaxBody = cmp.Or(c.MaxBody, DefaultMaxBody)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, DefaultMaxAnswer)
	return c
}
