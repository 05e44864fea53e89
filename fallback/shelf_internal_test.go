package fallback

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/backstay-go/backstay"
)

// entry is what the dumb model of a shelf, a slice with the most recently used
// entry first, holds.
type entry struct {
	key   string
	value int
	at    backstay.Instant
}

func TestAShelfBehavesLikeASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		s, model := newShelf[int](limit), []entry(nil)
		// take removes the key from the model and returns what it had.
		take := func(key string) (entry, bool) {
			i := slices.IndexFunc(model, func(e entry) bool { return e.key == key })
			if i < 0 {
				return entry{key: key}, false
			}
			e := model[i]
			model = slices.Delete(model, i, i+1)
			return e, true
		}
		keys := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		instants := rapid.IntRange(-2, 2) // compared only: in a bubble they may be negative
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				key, value, at := keys.Draw(t, "key"), rapid.Int().Draw(t, "value"), backstay.Instant(instants.Draw(t, "at"))
				s.put(key, value, at)
				e, known := take(key)
				if !known || at >= e.at {
					e.value, e.at = value, at
				}
				model = slices.Insert(model, 0, e)
				model = model[:min(len(model), limit)]
			},
			"get": func(t *rapid.T) {
				key := keys.Draw(t, "key")
				value, at, ok := s.get(key)
				e, known := take(key)
				if known {
					model = slices.Insert(model, 0, e)
				}
				if ok != known || value != e.value || at != e.at {
					t.Fatalf("get %s: %v, %v, %v; want %+v, %v", key, value, at, ok, e, known)
				}
			},
			"drop": func(t *rapid.T) {
				key, at := keys.Draw(t, "key"), backstay.Instant(instants.Draw(t, "at"))
				s.drop(key, at)
				model = slices.DeleteFunc(model, func(e entry) bool { return e.key == key && e.at == at })
			},
			"": func(t *rapid.T) { compare(t, s, model) },
		})
	})
}

// compare walks the ring both ways.
func compare(t *rapid.T, s *shelf[int], model []entry) {
	if len(s.items) != len(model) {
		t.Fatalf("%d items, want %d", len(s.items), len(model))
	}
	it, back := s.ring.next, s.ring.prev
	for i := range model {
		if it.key != model[i].key || it.value != model[i].value || it.at != model[i].at || s.items[it.key] != it {
			t.Fatalf("item %d is %+v, want %+v", i, it, model[i])
		}
		if want := model[len(model)-1-i].key; back.key != want {
			t.Fatalf("item %d from the end is %s, want %s", i, back.key, want)
		}
		it, back = it.next, back.prev
	}
	if it != &s.ring || back != &s.ring {
		t.Fatal("the ring is longer than the model")
	}
}

func TestAClaimIsForOneAndRestsAfterwards(t *testing.T) {
	s := newShelf[int](2)
	s.put("k", 1, 1)
	if _, ok := s.claim("unknown", 1, 0); ok {
		t.Error("claimed what is not there")
	}
	release, ok := s.claim("k", 10, math.MaxInt64)
	if !ok {
		t.Fatal("not claimed")
	}
	if _, ok := s.claim("k", 1000, 10); ok {
		t.Error("claimed twice")
	}
	release(20)
	for now, rest := range map[backstay.Instant]time.Duration{29: 10, 1 << 40: math.MaxInt64} {
		if _, ok := s.claim("k", now, rest); ok {
			t.Errorf("claimed at %d while it rests for %v", now, rest)
		}
	}
	release, ok = s.claim("k", 30, 10)
	if !ok {
		t.Fatal("not claimed after its rest")
	}
	s.drop("k", 1)
	s.put("k", 2, 2)
	release(100) // of an item that is gone: says nothing about the new one
	if _, ok := s.claim("k", 31, 10); !ok {
		t.Error("the new item is not free")
	}
}
