package memory

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

// A sequence is a slice of entries that never moves what it has given out.
func TestASequenceIsASlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const start = 7
	s, first, model := sequenceOf(start), int64(start), []journal.Entry(nil)
	var given, want [][]journal.Entry
	for range 20_000 {
		switch n := rng.IntN(1000); {
		case n < 990:
			e := journal.Entry{Place: journal.Place{Offset: s.next}}
			s.add(e)
			model = append(model, e)
		case n < 995:
			cut := rng.IntN(len(model) + 1)
			if cut > 0 {
				s.drop(first + int64(cut))
			}
			model, first = model[cut:], first+int64(cut)
		case len(model) > 0:
			keep := len(model) - rng.IntN(min(len(model), 600)+1)
			s.retract(first + int64(keep))
			model = model[:keep]
			given, want = nil, nil // what was retracted was never given out
		}
		if s.first != first || s.next != first+int64(len(model)) {
			t.Fatalf("%d to %d, want %d and %d of them", s.first, s.next, first, len(model))
		}
		if len(model) > 0 {
			i := rng.IntN(len(model))
			part := s.from(first + int64(i))
			if len(part) == 0 || !slices.EqualFunc(part, model[i:i+len(part)], sameEntry) {
				t.Fatalf("from %d: %d entries, which differ", i, len(part))
			}
			given, want = append(given, part), append(want, slices.Clone(part))
		}
		if len(given) > 50 {
			given, want = given[1:], want[1:]
		}
	}
	if all := s.below(s.next); !slices.EqualFunc(all, model, sameEntry) {
		t.Errorf("%d entries in all, want %d", len(all), len(model))
	}
	for i := range given {
		if !slices.EqualFunc(given[i], want[i], sameEntry) {
			t.Error("what a reader was given has changed")
		}
	}
}

func sameEntry(a, b journal.Entry) bool { return a.Offset == b.Offset }
