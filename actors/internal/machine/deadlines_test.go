package machine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDeadlinesComeInOrderOfTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var d deadlines
	var model []int64
	now := int64(0)
	for range 5000 {
		now += rng.Int64N(3)
		if rng.IntN(3) > 0 {
			at := now + rng.Int64N(2)*rng.Int64N(100) // most in order
			d.push(expiry{at: at, root: uint32(at)})  //nolint:gosec // never negative
			i, _ := slices.BinarySearch(model, at)
			model = slices.Insert(model, i, at)
			continue
		}
		due := len(model) > 0 && model[0] < now
		if d.due(now) != due {
			t.Fatalf("at %d due is %v, want %v: the first is at %v", now, !due, due, model[:min(1, len(model))])
		}
		if due {
			if e := d.pop(); e.at != model[0] || int64(e.root) != e.at {
				t.Fatalf("got %d of %d, want %d", e.at, e.root, model[0])
			}
			model = model[1:]
		}
	}
}
