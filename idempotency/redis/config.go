package redis

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [Config].
const (
	DefaultPrefix    = "backstay:idem:"
	DefaultTimeout   = time.Second
	DefaultMaxAnswer = 1 << 20
)

// WhenDown says what becomes of new work while Redis gives no usable answer.
type WhenDown string

const (
	// Refuse does no work that cannot be protected: its callers get
	// [idempotency.ErrStoreFailed], or ErrStoreFull, a 503. It is the default.
	Refuse WhenDown = "refuse"
	// LetThrough does the work, unprotected: a repetition that comes meanwhile
	// does it again. The observer is told of each piece of such work by
	// [idempotency.LetThrough].
	LetThrough WhenDown = "let_through"
)

// Config is the data of a [Store]. The zero value is the default.
type Config struct {
	// Prefix comes before every key in Redis, so that services that share one
	// do not share keys. Empty means [DefaultPrefix].
	Prefix string `json:"prefix,omitempty" yaml:"prefix,omitempty"`
	// Timeout bounds every operation, tries of the client included; the
	// deadline of its context bounds it further. While Redis fails to answer,
	// some operations wait a tenth of it; see the documentation of the
	// package. 0 means [DefaultTimeout].
	Timeout time.Duration `json:"timeout,omitempty" yaml:"timeout,omitempty"`
	// MaxAnswer is the largest answer that is kept, in bytes. A larger one is
	// refused with [idempotency.ErrStoreFull], whereupon a guard keeps a mark.
	// 0 means [DefaultMaxAnswer].
	MaxAnswer int64 `json:"max_answer,omitempty" yaml:"max_answer,omitempty"`
	// WhenDown says what becomes of new work while Redis gives no usable
	// answer. Empty means [Refuse].
	WhenDown WhenDown `json:"when_down,omitempty" yaml:"when_down,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(
		backstay.Setting{Path: "prefix", Value: c.Prefix, Valid: len(c.Prefix) <= 64 && !strings.ContainsFunc(c.Prefix, unfit),
			Allowed: "must be at most 64 characters of printable ASCII without space and braces"},
		backstay.Setting{Path: "timeout", Value: c.Timeout,
			Valid:   c.Timeout == 0 || c.Timeout >= 10*time.Millisecond && c.Timeout <= time.Minute,
			Allowed: "must be from 10ms to 1m0s"},
		backstay.Setting{Path: "max_answer", Value: c.MaxAnswer,
			Valid: c.MaxAnswer >= 0 && c.MaxAnswer <= math.MaxInt32>>2, Allowed: "must be from 1 to 536870911 bytes"},
		backstay.Setting{Path: "when_down", Value: c.WhenDown,
			Valid: c.WhenDown == "" || c.WhenDown == Refuse || c.WhenDown == LetThrough, Allowed: "must be refuse or let_through"},
	)
}

// unfit reports whether r has no place in a prefix. A brace would decide in
// which slot of a cluster all keys lie.
func unfit(r rune) bool { return r <= ' ' || r > '~' || r == '{' || r == '}' }

func (c Config) withDefaults() Config {
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, DefaultMaxAnswer)
	c.WhenDown = cmp.Or(c.WhenDown, Refuse)
	return c
}
