package idempotency

import (
	"context"
	"net/textproto"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/wire"
)

// Config is the data of a [Policy]: which calls carry a key, and how. The zero
// value sends the keys that callers bring and makes none.
type Config struct {
	// Generate makes a key for every call that has none. Switching it on for a
	// target states that the target honours keys: a call with a key may be
	// sent twice.
	Generate bool `json:"generate,omitempty" yaml:"generate,omitempty"`
	// Header names the header that carries the key. "" means [DefaultHeader].
	Header string `json:"header,omitempty" yaml:"header,omitempty"`
	// Bare sends the key without quotes, as many deployed services expect,
	// instead of as a quoted structured-field string.
	Bare bool `json:"bare,omitempty" yaml:"bare,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(backstay.Setting{
		Path: "header", Value: c.Header, Valid: c.Header == "" || wire.IsToken(c.Header),
		Allowed: "must be a header name: " + wire.Tokens,
	})
}

// Policy is the client's side of idempotency: it sees to it that a call has a
// key before its first attempt, and the same one on every attempt. A nil
// Policy makes no keys. It is safe for use by several goroutines.
type Policy struct {
	header string
	bare   bool
	make   func() string // nil: make none
}

// New returns a Policy, or every fault of the configuration.
func New(c Config, options ...Option) (*Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("idempotency", err)
	}
	p := &Policy{header: DefaultHeader, bare: c.Bare}
	if c.Header != "" {
		p.header = textproto.CanonicalMIMEHeaderKey(c.Header)
	}
	if c.Generate {
		p.make = collect(options).newKey
	}
	return p, nil
}

// Ensure returns the key that a call made with ctx carries, and a context that
// holds it. The caller's own key, see [WithKey], wins; otherwise p makes one if
// it generates keys. Without either, ctx comes back as it is, with an empty
// key. Call it once a call, before the first attempt.
//
// Within work that a [Guard] runs, the key is not random: it follows from the
// key, the scope and the guard's name of the work, from kind, which protocols
// set to the target, the method and the path, and from how many calls of that
// kind the work has made before. Work that runs again thus makes the same keys
// again, as long as it makes its calls of one kind in the same order; where it
// makes several at once, or leaves some out, give each its own with [Derive].
// A call that is to be made anew each time is given a [NewKey].
func Ensure(ctx context.Context, p *Policy, kind ...string) (context.Context, string) {
	key := KeyFrom(ctx)
	if key == "" {
		if p == nil || p.make == nil {
			return ctx, ""
		}
		if in := incomingOf(ctx); in != nil {
			key = in.next(kind)
		} else {
			key = p.make()
		}
		ctx = WithKey(ctx, key)
	}
	backstay.Note(ctx, func(s *backstay.Summary) { s.Key = key })
	return ctx, key
}

// Header is the name of the header that carries the key, in canonical form.
func (p *Policy) Header() string {
	if p == nil {
		return DefaultHeader
	}
	return p.header
}

// Format returns key as the value of the header; see the function [Format].
func (p *Policy) Format(key string) string { return Format(key, p != nil && p.bare) }
