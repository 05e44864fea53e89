package idempotency

import (
	"math"
	"time"

	backstay "github.com/backstay-go/backstay"
)

// GuardConfig configures the server's and consumer's side. Zero fields mean
// their defaults.
type GuardConfig struct {
	// Required refuses work that comes without a key. Default: such work is
	// done, unprotected.
	Required bool `json:"required" yaml:"required"`
	// Lease is for how long a key stays in flight after its owner was killed.
	// Owners renew it three times as often. Default: 30 s.
	Lease time.Duration `json:"lease" yaml:"lease"`
	// Retention is for how long an answer is kept, counted from the end of the
	// work. Default: 24 h.
	Retention time.Duration `json:"retention" yaml:"retention"`
	// MaxWait is for how long a repetition waits for the answer of work in
	// flight; its own deadline bounds it further. [NoWait] refuses at once.
	// Default: 60 s.
	MaxWait time.Duration `json:"max_wait" yaml:"max_wait"`
	// RetryAfter is what a repetition is told that is refused because the work
	// is in flight, or the store is full. Default: 1 s.
	RetryAfter time.Duration `json:"retry_after" yaml:"retry_after"`
	// Grace is for how long work may go on after its caller has given up, by
	// cancelling or by its deadline: a caller that comes back gets the answer.
	// [NoGrace] ends the work's context with the caller's. Default: 30 s.
	Grace time.Duration `json:"grace" yaml:"grace"`
	// Poll is the longest pause between two looks at a store that is no
	// [Waiter]; the first pauses are shorter. Default: 250 ms.
	Poll time.Duration `json:"poll" yaml:"poll"`
	// MaxBody is the largest body, in bytes, that [Guard.ReadBody] reads.
	// Default: 1 MiB.
	MaxBody int64 `json:"max_body" yaml:"max_body"`
	// MaxAnswer is the largest answer, in bytes, that is kept; of a larger one
	// only is kept that the work was done. Default: 256 KiB.
	MaxAnswer int64 `json:"max_answer" yaml:"max_answer"`
}

const (
	// NoWait as MaxWait refuses at once what is in flight.
	NoWait time.Duration = -1
	// NoGrace as Grace ends the work's context together with its caller's.
	NoGrace time.Duration = -1
)

// Validate returns all faults of c, joined.
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
	orElse := func(d *time.Duration, standard time.Duration) {
		if *d == 0 {
			*d = standard
		}
	}
	orElse(&c.Lease, 30*time.Second)
	orElse(&c.Retention, 24*time.Hour)
	orElse(&c.MaxWait, time.Minute)
	orElse(&c.RetryAfter, time.Second)
	orElse(&c.Grace, 30*time.Second)
	orElse(&c.Poll, 250*time.Millisecond)
	if c.MaxBody == 0 {
		c.MaxBody = 1 << 20
	}
	if c.MaxAnswer == 0 {
		c.MaxAnswer = 256 << 10
	}
	return c
}
