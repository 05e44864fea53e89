package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// Value is a named value of every actor of a type, kept in the log: it is read
// when it is asked for, and what is set becomes durable with the method's next
// record (a nested call, or its end), together with everything else of that
// record or not at all.
type Value[T, A any] struct {
	cellOf[T, A]
}

// NewValue names a value. The name is part of what is stored, for ever. It
// panics if the name is empty or contains '/'.
func NewValue[T, A any](t Type[A], name string, options ...ValueOption[T]) Value[T, A] {
	return Value[T, A]{newCell(t, name, options)}
}

// ValueOption says how what older programs stored is read.
type ValueOption[T any] func(*schema[T])

// Version sets the version of the value's form: 1 unless said otherwise.
// upcast reads what older versions stored; raw is what the codec wrote then.
// What is of a newer version is not read, but an error: an old program that reads
// before it writes does not overwrite it.
func Version[T any](version int, upcast func(from int, raw []byte) (T, error)) ValueOption[T] {
	return func(s *schema[T]) { s.version, s.upcast = version, upcast }
}

// Get returns the value, the zero value if none was set.
func (v Value[T, A]) Get(ctx context.Context, s State[A]) (T, error) {
	value, _, err := v.Lookup(ctx, s)
	return value, err
}

// Lookup returns the value, and whether it was set.
func (v Value[T, A]) Lookup(ctx context.Context, s State[A]) (value T, ok bool, err error) {
	raw, ok, err := s.cell(ctx, v.name)
	if err != nil || !ok {
		return value, false, err
	}
	if value, err = v.decode(s.codec(), raw); err != nil {
		return value, false, fmt.Errorf("actors: value %q: %w", v.name, err)
	}
	return value, true, nil
}

// Set sets the value. What cannot be encoded, or is too large, is an error here,
// and fails the step if it is ignored.
func (v Value[T, A]) Set(s Self[A], value T) error { return v.set(s, v.name, value) }

// Remove unsets the value.
func (v Value[T, A]) Remove(s Self[A]) error { return s.changed(s.attempt.Remove(v.name)) }

// cellOf is what values and maps have in common.
type cellOf[T, A any] struct {
	name string
	schema[T]
}

func newCell[T, A any](t Type[A], name string, options []ValueOption[T]) cellOf[T, A] {
	if name == "" || !validCellName(name) {
		panic(fmt.Sprintf("actors: the name %q of a value of %s must not be empty nor contain '/'", name, t.name))
	}
	c := cellOf[T, A]{name: name, schema: schema[T]{version: 1}}
	for _, o := range options {
		o(&c.schema)
	}
	if c.version < 1 || c.version > 1 && c.upcast == nil {
		panic(fmt.Sprintf("actors: value %q of %s: a version is 1 or more, and needs a function for older ones from 2 on", name, t.name))
	}
	return c
}

func (c cellOf[T, A]) set(s Self[A], name string, value T) error {
	raw, err := c.encode(s.codec(), value)
	if err != nil {
		return s.spoil(mistake("actors: value %q of %s: %w", name, s.Ref(), err))
	}
	return s.changed(s.attempt.Set(name, raw))
}

// schema is how values of one name are written: the version, then what the
// codec makes of it.
type schema[T any] struct {
	version int
	upcast  func(from int, raw []byte) (T, error)
}

func (c schema[T]) encode(codec Codec, value T) ([]byte, error) {
	const room = 24
	return encode(codec, binary.AppendUvarint(make([]byte, 0, room), uint64(c.version)), value) //nolint:gosec // checked to be 1 or more
}

func (c schema[T]) decode(codec Codec, stored []byte) (value T, err error) {
	version, n := binary.Uvarint(stored)
	switch {
	case n <= 0 || version == 0:
		return value, errors.New("it has no version")
	case version > uint64(c.version): //nolint:gosec // checked to be 1 or more
		return value, fmt.Errorf("it is of version %d, and this program knows up to %d: deploy the newer program everywhere first", version, c.version)
	case version < uint64(c.version): //nolint:gosec // checked to be 1 or more
		return c.upcast(int(version), stored[n:]) //nolint:gosec // below an int
	}
	return decode[T](codec, stored[n:])
}
