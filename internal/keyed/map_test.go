package keyed_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
	"github.com/backstay-go/backstay/internal/testkit"
)

// second makes instants of small numbers.
const second = backstay.Instant(time.Second)

// counted is a value that knows its key and how many were built before it.
type counted struct {
	key string
	nth int
	hot bool // busy
}

// newCounted returns a map of counted values.
func newCounted(c keyed.Config) *keyed.Map[*counted] {
	n := 0
	return keyed.New(c, func(key string) *counted {
		n++
		return &counted{key: key, nth: n}
	}, keyed.Hooks[*counted]{Busy: func(v *counted) bool { return v.hot }})
}

func TestAKeyKeepsItsValue(t *testing.T) {
	m := newCounted(keyed.Config{})
	a, b := m.Get("a", second), m.Get("b", second)
	if a == b || a.key != "a" || b.key != "b" {
		t.Fatalf("got %v and %v", a, b)
	}
	if again := m.Get("a", 2*second); again != a {
		t.Errorf("the second Get returned %v, want %v", again, a)
	}
	if m.Len() != 2 {
		t.Errorf("%d keys, want 2", m.Len())
	}
}

func TestPeekFindsAndDoesNotCreate(t *testing.T) {
	m := newCounted(keyed.Config{})
	if v, ok := m.Peek("a"); ok || v != nil {
		t.Errorf("found %v in an empty map", v)
	}
	if m.Len() != 0 {
		t.Errorf("Peek made %d keys", m.Len())
	}
	want := m.Get("a", second)
	if v, ok := m.Peek("a"); !ok || v != want {
		t.Errorf("got %v, %v, want %v", v, ok, want)
	}
}

func TestDeleteReturnsTheValueAndTheNextGetBuildsAnew(t *testing.T) {
	m := newCounted(keyed.Config{})
	if _, ok := m.Delete("a"); ok {
		t.Error("deleted a key that was not there")
	}
	first := m.Get("a", second)
	if v, ok := m.Delete("a"); !ok || v != first {
		t.Errorf("got %v, %v, want %v", v, ok, first)
	}
	if m.Len() != 0 {
		t.Errorf("%d keys left", m.Len())
	}
	if again := m.Get("a", second); again == first {
		t.Error("the deleted value came back")
	}
}

func TestRangeTellsEveryKeyOnce(t *testing.T) {
	m := newCounted(keyed.Config{})
	want := hosts(1000)
	for _, k := range want {
		m.Get(k, second)
	}
	got := make(map[string]int)
	for k, v := range m.Range {
		got[k]++
		if v.key != k {
			t.Fatalf("%q has the value of %q", k, v.key)
		}
		m.Get(k+"'", second) // it may use the map
		m.Delete(k + "'")
	}
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, want) {
		t.Errorf("told %d keys, want %d", len(keys), len(want))
	}
	for k, n := range got {
		if n != 1 {
			t.Errorf("told %q %d times", k, n)
		}
	}
	for range m.Range {
		break // stops without a panic
	}
}

func TestAllFaultsOfAConfigAreToldAtOnce(t *testing.T) {
	err := keyed.Config{MaxKeys: -1, IdleAfter: -1}.Validate()
	for _, path := range []string{"max_keys", "idle_after"} {
		found := false
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			f, ok := errors.AsType[*backstay.FieldError](e)
			found = found || ok && f.Path == path
		}
		if !found {
			t.Errorf("%v does not name %s", err, path)
		}
	}
	if err := (keyed.Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("New took an invalid Config")
		}
	}()
	newCounted(keyed.Config{MaxKeys: -1})
}

func TestTheDefaultBoundFitsTenThousandKeysExactly(t *testing.T) {
	m := newCounted(keyed.Config{})
	keys := hosts(keyed.DefaultMaxKeys)
	for _, k := range keys {
		m.Get(k, second)
	}
	for i, k := range keys {
		if v, ok := m.Peek(k); !ok || v.nth != i+1 {
			t.Fatalf("%q is gone, or built again: %v", k, v)
		}
	}
}

func TestGetOfAKnownKeyDoesNotAllocate(t *testing.T) {
	m := newCounted(keyed.Config{})
	host, port := "payments", 8080
	key := fmt.Sprintf("%s:%d", host, port)
	now := second
	testkit.Allocs(t, 0, func() {
		now += second / 2
		m.Get(key, now)
	})
}
