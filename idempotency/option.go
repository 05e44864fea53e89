package idempotency

import (
	"encoding/json"

	"github.com/backstay-go/backstay"
)

// Option sets a collaborator of a [Policy] or a [Guard].
type Option func(*collaborators)

// collaborators are what the options give.
type collaborators struct {
	scope  *backstay.Scope
	newKey func() string
	codec  Codec
}

func collect(options []Option) collaborators {
	with := collaborators{newKey: NewKey, codec: jsonCodec{}}
	for _, o := range options {
		o(&with)
	}
	return with
}

// WithScope says on whose behalf a [Guard] acts and who is told; see the kinds
// of events of this package. A [Policy] has nothing to tell and ignores it.
func WithScope(s *backstay.Scope) Option { return func(with *collaborators) { with.scope = s } }

// WithGenerator replaces [NewKey] as the maker of a [Policy]'s keys. It must
// never make the same key twice, its keys must pass [CheckKey], and it may be
// called from several goroutines. It is not asked within work that a [Guard]
// runs, see [Ensure]. A [Guard] ignores it.
func WithGenerator(newKey func() string) Option {
	return func(with *collaborators) { with.newKey = newKey }
}

// WithCodec replaces JSON as the form in which [Do] keeps values. A [Policy]
// ignores it.
func WithCodec(c Codec) Option { return func(with *collaborators) { with.codec = c } }

// Codec turns the values of [Do] into bytes and back. It may be used by
// several goroutines at once.
type Codec interface {
	Marshal(v any) ([]byte, error)
	Unmarshal(data []byte, v any) error
}

type jsonCodec struct{}

func (jsonCodec) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (jsonCodec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }
