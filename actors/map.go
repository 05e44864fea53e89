package actors

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// Map is a named map of every actor of a type. Each entry is stored by itself:
// to set one writes one. Entries come in the order of their keys: strings byte
// by byte, whole numbers by value, types that marshal as text by that, others
// by their JSON.
type Map[K comparable, T, A any] struct {
	cellOf[T, A]
}

// NewMap names a map; see [NewValue].
func NewMap[K comparable, T, A any](t Type[A], name string, options ...ValueOption[T]) Map[K, T, A] {
	return Map[K, T, A]{newCell(t, name, options)}
}

// Get returns the entry of a key, and whether there is one.
func (m Map[K, T, A]) Get(ctx context.Context, s State[A], key K) (value T, ok bool, err error) {
	name, err := m.entry(key)
	if err != nil {
		return value, false, err
	}
	raw, ok, err := s.cell(ctx, name)
	if err != nil || !ok {
		return value, false, err
	}
	if value, err = m.decode(s.codec(), raw); err != nil {
		return value, false, fmt.Errorf("actors: entry %q: %w", name, err)
	}
	return value, true, nil
}

// Set sets the entry of a key.
func (m Map[K, T, A]) Set(s Self[A], key K, value T) error {
	name, err := m.entry(key)
	if err != nil {
		return s.spoil(err)
	}
	return m.set(s, name, value)
}

// Remove removes the entry of a key, if there is one.
func (m Map[K, T, A]) Remove(s Self[A], key K) error {
	name, err := m.entry(key)
	if err != nil {
		return s.spoil(err)
	}
	return s.changed(s.attempt.Remove(name))
}

// All goes through the entries in the order of their keys, as they are when the
// loop begins, with what the method has changed. The error, if any, comes with
// the last pair.
func (m Map[K, T, A]) All(ctx context.Context, s State[A]) iter.Seq2[Pair[K, T], error] {
	return func(yield func(Pair[K, T], error) bool) {
		all, err := s.cells(ctx, m.name+"/")
		if err != nil {
			yield(Pair[K, T]{}, err)
			return
		}
		for _, c := range all {
			p, err := m.pair(s.codec(), c)
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Pair is an entry of a [Map].
type Pair[K comparable, T any] struct {
	Key   K
	Value T
}

func (m Map[K, T, A]) pair(codec Codec, c cell) (p Pair[K, T], err error) {
	if p.Key, err = decodeKey[K](strings.TrimPrefix(c.Name, m.name+"/")); err != nil {
		return p, fmt.Errorf("actors: stored key %q: %w", c.Name, err)
	}
	if p.Value, err = m.decode(codec, c.Value); err != nil {
		return p, fmt.Errorf("actors: entry %q: %w", c.Name, err)
	}
	return p, nil
}

func (m Map[K, T, A]) entry(key K) (string, error) {
	text, err := encodeKey(key)
	if err != nil {
		return "", mistake("actors: key of map %q: %w", m.name, err)
	}
	return m.name + "/" + text, nil
}

// validCellName reports whether a name can be that of a value: '/' stands
// between a map's name and its keys.
func validCellName(name string) bool {
	return utf8.ValidString(name) && !strings.Contains(name, "/")
}
