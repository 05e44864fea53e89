package record

import (
	"math"
	"testing"
)

// The usual form is read by hand, and nothing else is.
func TestTheUsualFormIsReadQuickly(t *testing.T) {
	usual := []Record{
		&ClientRequest{},
		&ClientRequest{
			ID: ID{1}, Until: math.MaxInt64, Deadline: -1, TTL: 64, NotBefore: math.MinInt64, Target: Address{Type: "t", Actor: "a", Index: math.MaxUint32},
			Method: "m", Args: make([]byte, 300), Key: "k", Reply: "r", Baggage: []byte("b"),
		},
		&Step{},
		&Step{
			Epoch: 1, Link: Link{ID: ID{1}, Life: 1 << 40, Seq: 128}, Result: Result{Value: make([]byte, 200)},
			Delta: Delta{Cells: []Cell{{}, {Name: "n", Value: make([]byte, 1<<15)}, {Name: "gone", Removed: true}}},
		},
	}
	for _, r := range usual {
		checkQuick(t, r, true)
	}
	for _, r := range []Record{
		&ClientRequest{Kept: []byte{35 << 1, 1}}, // a number in field 35, which nobody knows
		&Step{Delta: Delta{Clear: true}},
		&Step{Outcome: Poison},
		&Step{Tells: []Call{{}}},
		&Begun{},
	} {
		checkQuick(t, r, false)
	}
}

func checkQuick(t *testing.T, r Record, want bool) {
	t.Helper()
	var d Decoder
	if _, ok := d.quick(Encode(r)); ok != want {
		t.Errorf("%+v: read quickly %v", r, ok)
	}
}
