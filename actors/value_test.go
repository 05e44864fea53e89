package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
)

// scripted is a method that runs the functions that the test hands it, in
// virtual time and one process: so a test reads like one.
type scripted struct {
	run  actors.Method[int, none, thing]
	todo []func(ctx context.Context, self self) error
	ctx  context.Context
}

// script makes one on a cluster of its own.
func script(c *cluster) *scripted {
	s := &scripted{run: actors.Declare[int, none](Thing, "run")}
	s.ctx = c.things(actors.Handle(s.run, func(ctx context.Context, self self, i int) (none, error) {
		return none{}, s.todo[i](ctx, self)
	}))
	return s
}

// on runs f as a method of an actor.
func (s *scripted) on(id string, f func(ctx context.Context, self self) error) error {
	s.todo = append(s.todo, f)
	_, err := s.run.Call(s.ctx, Thing.Ref(id), len(s.todo)-1)
	return err
}

func TestAValueIsKept(t *testing.T) {
	inBubble(t, func(c *cluster) {
		name := actors.NewValue[string](Thing, "name")
		s := script(c)
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			if v, ok, err := name.Lookup(ctx, self); v != "" || ok || err != nil {
				t.Errorf("before it was set: %q, %v, %v", v, ok, err)
			}
			if err := name.Set(self, "Ann"); err != nil {
				return err
			}
			v, ok, err := name.Lookup(ctx, self)
			if v != "Ann" || !ok {
				t.Errorf("in the method that set it: %q, %v", v, ok)
			}
			return err
		}))
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			v, err := name.Get(ctx, self)
			if v != "Ann" {
				t.Errorf("in the next method: %q", v)
			}
			return errors.Join(err, name.Remove(self))
		}))
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			v, ok, err := name.Lookup(ctx, self)
			if v != "" || ok {
				t.Errorf("after it was removed: %q, %v", v, ok)
			}
			return err
		}))
	})
}

func TestAnErrorDiscardsWhatWasNotRecorded(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a, b := actors.NewValue[int](Thing, "a"), actors.NewValue[int](Thing, "b")
		s := script(c)
		nothing := func(context.Context, self) error { return nil }
		s.todo = append(s.todo, nothing)
		err := s.on("x", func(ctx context.Context, self self) error {
			if err := a.Set(self, 1); err != nil {
				return err
			}
			if _, err := s.run.Call(ctx, Thing.Ref("y"), 0); err != nil { // records a
				return err
			}
			return errors.Join(b.Set(self, 1), errEmpty)
		})
		c.is(err, errEmpty)
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			have, err := a.Get(ctx, self)
			lost, more := b.Get(ctx, self)
			if have != 1 || lost != 0 {
				t.Errorf("a is %d, and b is %d: want what the nested call recorded, and not what came after", have, lost)
			}
			return errors.Join(err, more)
		}))
	})
}

func TestAValueThatCannotBeEncodedFailsTheStepEvenIfNobodyLooks(t *testing.T) {
	inBubble(t, func(c *cluster) {
		fine, odd := actors.NewValue[int](Thing, "fine"), actors.NewValue[func()](Thing, "odd")
		huge := actors.NewValue[string](Thing, "huge")
		keyed := actors.NewMap[key, int](Thing, "keyed")
		s := script(c)
		for what, set := range map[string]func(self self){
			"a value":  func(self self) { _ = odd.Set(self, func() {}) },
			"a key":    func(self self) { _ = keyed.Set(self, key{Bad: true}, 1) },
			"a size":   func(self self) { _ = huge.Set(self, strings.Repeat("x", 1<<20)) },
			"no name":  func(self self) { _ = s.run.Forget(self, "") },
			"a period": func(self self) { _ = s.run.Remind(self, "r", actors.Every(0), 1) },
		} {
			err := s.on("x", func(_ context.Context, self self) error {
				set(self)
				return fine.Set(self, 1)
			})
			if err == nil {
				t.Errorf("%s: the step was recorded without it", what)
			}
		}
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			v, err := fine.Get(ctx, self)
			if v != 0 {
				t.Error("half of a step was recorded")
			}
			return err
		}))
	})
}

// key is one that marshals as text, unless it is bad.
type key struct {
	Text string
	Bad  bool
}

func (k key) MarshalText() ([]byte, error) {
	if k.Bad {
		return nil, errors.New("a bad key")
	}
	return []byte(k.Text), nil
}

func (k *key) UnmarshalText(text []byte) error {
	k.Text = string(text)
	return nil
}

func TestOlderFormsOfAValueAreUnderstoodAndNewerOnesRefused(t *testing.T) {
	inBubble(t, func(c *cluster) {
		type address struct{ Street, Town string }
		old := actors.NewValue[string](Thing, "address")
		now := actors.NewValue(Thing, "address", actors.Version(2, func(from int, raw []byte) (address, error) {
			var line string
			if err := json.Unmarshal(raw, &line); err != nil || from != 1 {
				return address{}, errors.New("not of version 1")
			}
			street, town, _ := strings.Cut(line, ", ")
			return address{street, town}, nil
		}))
		s := script(c)
		c.ok(s.on("x", func(_ context.Context, self self) error { return old.Set(self, "Elm St 1, Springwood") }))
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			v, err := now.Get(ctx, self)
			if v != (address{"Elm St 1", "Springwood"}) {
				t.Errorf("got %+v", v)
			}
			return errors.Join(err, now.Set(self, v))
		}))
		err := s.on("x", func(ctx context.Context, self self) error {
			v, ok, err := old.Lookup(ctx, self)
			if v != "" || ok {
				t.Errorf("the old program reads %q of the new form", v)
			}
			return err
		})
		if err == nil || !strings.Contains(err.Error(), `value "address"`) || !strings.Contains(err.Error(), "version 2") {
			t.Error(err)
		}
	})
}

func TestAMapGoesThroughItsEntriesInOrderWithWhatTheMethodHasChanged(t *testing.T) {
	inBubble(t, func(c *cluster) {
		stock := actors.NewMap[string, int](Thing, "stock")
		value := actors.NewValue[int](Thing, "stock") // of the same name: not in the way
		s := script(c)
		c.ok(s.on("x", func(_ context.Context, self self) error {
			return errors.Join(stock.Set(self, "pear", 3), stock.Set(self, "apple", 1), stock.Set(self, "fig", 2), value.Set(self, 99))
		}))
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			err := errors.Join(stock.Remove(self, "fig"), stock.Set(self, "apple", 10), stock.Set(self, "", 7), stock.Set(self, "a/b", 8))
			return errors.Join(err, same(t, stock, ctx, self, []string{"", "a/b", "apple", "pear"}, []int{7, 8, 10, 3}))
		}))
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			n, ok, err := stock.Get(ctx, self, "apple")
			_, gone, more := stock.Get(ctx, self, "fig")
			if n != 10 || !ok || gone {
				t.Errorf("apples: %d, %v; figs: %v", n, ok, gone)
			}
			return errors.Join(err, more, same(t, stock, ctx, self, []string{"", "a/b", "apple", "pear"}, []int{7, 8, 10, 3}))
		}))
	})
}

// same compares the entries of a map.
func same[K comparable](t *testing.T, m actors.Map[K, int, thing], ctx context.Context, s actors.State[thing], keys []K, values []int) error { //nolint:revive // t first, as everywhere
	t.Helper()
	var gotKeys []K
	var gotValues []int
	for p, err := range m.All(ctx, s) {
		if err != nil {
			return err
		}
		gotKeys, gotValues = append(gotKeys, p.Key), append(gotValues, p.Value)
	}
	if !slices.Equal(gotKeys, keys) || !slices.Equal(gotValues, values) {
		t.Errorf("got %v: %v, want %v: %v", gotKeys, gotValues, keys, values)
	}
	return nil
}

// Kinds of keys.
type (
	kind  string
	place struct{ X, Y int }
)

func TestEveryComparableTypeCanBeTheKeyOfAMapAndHasItsOwnOrder(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		keyed(t, c, s, "strings", []string{"", " ", "\"", "a", "a b", "a\"", "a/", "ab", "ä", "\xfe", "\xff"})
		keyed(t, c, s, "kinds", []kind{"a", "b"})
		keyed(t, c, s, "ints", []int{-1 << 63, -10, -9, 0, 9, 10, 1<<63 - 1})
		keyed(t, c, s, "durations", []time.Duration{-time.Second, time.Second, time.Minute})
		keyed(t, c, s, "bytes", []uint8{0, 9, 10, 255})
		keyed(t, c, s, "texts", []key{{Text: "one"}, {Text: "two"}})
		keyed(t, c, s, "structs", []place{{1, 2}, {2, 1}})
		keyed(t, c, s, "refs", []actors.Ref[thing]{Thing.Ref("x"), Thing.Ref("y")})
		keyed(t, c, s, "bools", []bool{false, true})
	})
}

// keyed sets entries from the last key to the first, and expects them in order.
func keyed[K comparable](t *testing.T, c *cluster, s *scripted, name string, keys []K) {
	t.Helper()
	m := actors.NewMap[K, int](Thing, name)
	c.ok(s.on("x", func(ctx context.Context, self self) error {
		want := make([]int, len(keys))
		for i := len(keys) - 1; i >= 0; i-- {
			want[i] = i
			if err := m.Set(self, keys[i], i); err != nil {
				return err
			}
		}
		for i, k := range keys {
			if n, ok, err := m.Get(ctx, self, k); n != i || !ok || err != nil {
				t.Errorf("%s: %v is %d, %v, %v", name, k, n, ok, err)
			}
		}
		return same(t, m, ctx, self, keys, want)
	}))
}

func TestALoopOverAMapCanEndEarly(t *testing.T) {
	inBubble(t, func(c *cluster) {
		m := actors.NewMap[int, int](Thing, "m")
		s := script(c)
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			for i := range 5 {
				if err := m.Set(self, i, i); err != nil {
					return err
				}
			}
			seen := 0
			for p, err := range m.All(ctx, self) {
				if err != nil {
					return err
				}
				seen++
				if err := m.Remove(self, p.Key+1); err != nil { // as they were when the loop began
					return err
				}
				if seen == 3 {
					break
				}
			}
			if seen != 3 {
				t.Errorf("saw %d", seen)
			}
			return nil
		}))
	})
}

func TestAMapWithAnEntryOfANewerFormSaysWhich(t *testing.T) {
	inBubble(t, func(c *cluster) {
		newer := actors.NewMap[string](Thing, "m", actors.Version(3, func(int, []byte) (int, error) { return 0, nil }))
		older := actors.NewMap[string, int](Thing, "m")
		s := script(c)
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			if err := errors.Join(newer.Set(self, "k", 1), newer.Set(self, "l", 1)); err != nil {
				return err
			}
			_, _, err := older.Get(ctx, self, "k")
			var inLoop error
			turns := 0
			for _, inLoop = range older.All(ctx, self) {
				turns++
			}
			if turns != 1 {
				t.Errorf("the loop went on after an error: %d turns", turns)
			}
			for _, e := range []error{err, inLoop} {
				if e == nil || !strings.Contains(e.Error(), `"m/k"`) || !strings.Contains(e.Error(), "version 3") {
					t.Error(e)
				}
			}
			return nil
		}))
	})
}

func TestDeleteRemovesValuesMapsAndReminders(t *testing.T) {
	inBubble(t, func(c *cluster) {
		v := actors.NewValue[int](Thing, "v")
		m := actors.NewMap[string, int](Thing, "m")
		s := script(c)
		rang := false
		s.todo = append(s.todo, func(context.Context, self) error { rang = true; return nil })
		c.ok(s.on("x", func(_ context.Context, self self) error {
			return errors.Join(v.Set(self, 1), m.Set(self, "k", 1), s.run.Remind(self, "r", actors.After(time.Minute), 0))
		}))
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			if err := self.Delete(); err != nil {
				return err
			}
			n, err := v.Get(ctx, self)
			if n != 0 {
				t.Error("it is still there in the method that deleted")
			}
			return errors.Join(err, m.Set(self, "new", 2))
		}))
		pass(time.Hour)
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			n, err := v.Get(ctx, self)
			if n != 0 || rang {
				t.Errorf("value %d; the reminder rang: %v", n, rang)
			}
			return errors.Join(err, same(t, m, ctx, self, []string{"new"}, []int{2}))
		}))
	})
}
