package record

import (
	"math"
	"testing"
)

// The usual form is read by hand, and nothing else is.
func TestTheUsualFormIsReadQuickly(t *testing.T) {
	calls := []Call{{}, {
		ID: ID{1}, Target: Address{Type: "t", Actor: "a", Index: 7}, Deadline: -1, TTL: 1, NotBefore: 2,
		Method: "m", Args: make([]byte, 300), Name: "n", Baggage: []byte("b"),
	}}
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
		&Step{Outcome: TailSelf, Tail: &calls[1], Tells: calls},
		&Step{Outcome: TailOther, Tail: &calls[1]},
		&Issued{Epoch: 1, Link: Link{ID: ID{1}}, Call: 3, Children: calls, Delta: Delta{Cells: []Cell{{Name: "n"}}}},
		&Issued{},
	}
	for _, r := range usual {
		checkQuick(t, r, true)
	}
	for _, r := range []Record{
		&ClientRequest{Kept: []byte{35 << 1, 1}}, // a number in field 35, which nobody knows
		&Step{Delta: Delta{Clear: true}},
		&Step{Outcome: Poison},
		&Step{Tells: []Call{{Kept: []byte{35 << 1, 1}}}},
		&Step{Letters: []Posted{{}}},
		&Issued{Delta: Delta{Clear: true}},
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

// Who looks ahead is told no other id than Decode reads, whatever is in front of it.
func TestAnIDIsReadAheadOfRequestsOnly(t *testing.T) {
	request := Encode(&ClientRequest{ID: ID{7, 15: 8}, Until: 9, Method: "m"})
	if id, is := RequestID(request); !is || id != (ID{7, 15: 8}) {
		t.Errorf("%v, %v", id, is)
	}
	for _, r := range []Record{&ClientRequest{Until: 9, Method: "m"}, &Read{ID: ID{7}}, &Step{Link: Link{ID: ID{7}}}} {
		if id, is := RequestID(Encode(r)); is {
			t.Errorf("%v of a %v", id, r.Kind())
		}
	}
	for at := range request {
		if id, is := RequestID(request[:at]); is && id != (ID{7, 15: 8}) {
			t.Errorf("%v of %d bytes", id, at)
		}
	}
}
