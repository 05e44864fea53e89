package actorstest

import (
	"slices"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

// TestDurableLog checks that what a log has acknowledged is there when it is
// closed and opened again. medium is called once a case, and returns what opens
// the log of that case, as often as it is called.
func TestDurableLog(t *testing.T, medium func(t *testing.T) (open func() journal.Log)) {
	t.Run("entries and their places", func(t *testing.T) { durableEntries(t, medium(t)) })
	t.Run("what was truncated, also all of it", func(t *testing.T) { durableTruncation(t, medium(t)) })
	t.Run("snapshots", func(t *testing.T) { durableSnapshots(t, medium(t)) })
}

func durableEntries(t *testing.T, open func() journal.Log) {
	var want []string
	var places []journal.Place
	for round := range 3 {
		t.Run("", func(t *testing.T) {
			r := newRig(t, open())
			c := r.open(r.p, 0)
			defer c.Close()
			got := c.take(len(want))
			for i, e := range got {
				if e.Place != places[i] && places[i].At != 0 {
					t.Errorf("entry %d moved from %v to %v", i, places[i], e.Place)
				}
			}
			if !slices.Equal(texts(got), want) {
				t.Fatalf("in round %d: %q, want %q", round, texts(got), want)
			}
			added := []string{"x", "", string(make([]byte, 100_000))}
			places = append(places, r.add(r.p, added...)...)
			want = append(want, added...)
		})
	}
}

func durableTruncation(t *testing.T, open func() journal.Log) {
	var end int64
	t.Run("", func(t *testing.T) {
		r := newRig(t, open())
		places := r.add(r.p, "a", "b", "c")
		end = places[2].Offset + 1
		if err := r.Truncate(r.Context(), r.p, end); err != nil {
			t.Fatal(err)
		}
	})
	for range 2 {
		t.Run("", func(t *testing.T) {
			r := newRig(t, open())
			_, next, err := r.Bounds(r.Context(), r.p)
			if err != nil || next < end {
				t.Fatalf("the log ends at %d, %v; it ended at %d", next, err, end)
			}
			if places := r.add(r.p, "d"); places[0].Offset < end {
				t.Errorf("offset %d was used again", places[0].Offset)
			}
			end++
		})
	}
}

func durableSnapshots(t *testing.T, open func() journal.Log) {
	t.Run("", func(t *testing.T) {
		r := newRig(t, open())
		r.mustSave(chunked(10, 10, 10))
		r.mustSave(chunked(20, 10, 20))
	})
	t.Run("", func(t *testing.T) {
		r := newRig(t, open())
		r.expect(chunked(20, 10, 20))
		r.mustSave(chunked(30, 10, 30))
	})
	t.Run("", func(t *testing.T) { newRig(t, open()).expect(chunked(30, 10, 30)) })
}
