package idempotency

import (
	"context"
	"net/textproto"
	"strings"

	"github.com/backstay-go/backstay"
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
		Path: "header", Value: c.Header, Valid: c.Header == "" || isToken(c.Header),
		Allowed: "must be a header name: letters, digits and -_.!#$%&'*+^`|~",
	})
}

// isToken reports whether name is a token of RFC 9110.
func isToken(name string) bool {
	for _, r := range name {
		alphanumeric := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !alphanumeric && !strings.ContainsRune("-_.!#$%&'*+^`|~", r) {
			return false
		}
	}
	return name != ""
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
func Ensure(ctx context.Context, p *Policy) (context.Context, string) {
	key := KeyFrom(ctx)
	if key == "" {
		if p == nil || p.make == nil {
			return ctx, ""
		}
		key = p.make()
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
