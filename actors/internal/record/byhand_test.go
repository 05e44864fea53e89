package record

import (
	"bytes"
	"math"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// The usual form is written by hand, to the very bytes that the Walker writes.
// Nothing else is.
func TestTheUsualFormIsWrittenByHand(t *testing.T) {
	unknown := codec.Kept{35 << 1, 1} // field 35, a number
	long := make([]byte, 300)
	link := Link{ID: ID{1}, Life: 1 << 40, Seq: 128}
	calls := []Call{{}, {
		ID: ID{1}, Target: Address{Type: "t", Actor: string(long), Index: math.MaxUint32}, Deadline: -1, TTL: 1, NotBefore: 2,
		Method: "m", Args: long, Name: "n", Baggage: long[:128], Kept: unknown,
	}}
	cells := Delta{Cells: []Cell{{}, {Name: "n", Value: make([]byte, 1<<15)}, {Name: "gone", Removed: true}}}
	for _, r := range []Record{
		&ClientRequest{},
		&ClientRequest{Target: Address{Index: 1}},
		&ClientRequest{
			ID: ID{1}, Until: math.MaxInt64, Deadline: -1, TTL: 64, NotBefore: math.MinInt64, Target: Address{Type: "t", Actor: "a", Index: 127},
			Method: "m", Args: long, Key: "k", Reply: string(long[:127]), Baggage: long[:128],
		},
		&Step{},
		&Step{Epoch: 128, Link: link, Result: Result{Value: long}, Delta: cells},
		&Step{Link: link, Outcome: TailSelf, Tail: &calls[0], Tells: calls},
		&Step{Outcome: Poison, Tail: &calls[1], Tells: calls[:1]},
		&Issued{},
		&Issued{Epoch: 1, Link: link, Call: 3, Children: calls, Delta: cells},
	} {
		got, ok := byHand([]byte("before"), r)
		if want := walk([]byte("before"), r); !ok || !bytes.Equal(got, want) {
			t.Errorf("%+v: written by hand %v: %x, want %x", r, ok, got, want)
		}
	}
	for n := range long { // lengths of one byte and of two, of each message within another
		r := &Step{Result: Result{Value: long[:n]}, Tail: &Call{Args: long[:n]}, Delta: Delta{Cells: []Cell{{Value: long[:n]}}}, Tells: []Call{{Args: long[:n]}}}
		if got, ok := byHand(nil, r); !ok || !bytes.Equal(got, walk(nil, r)) {
			t.Errorf("%d bytes: written by hand %v: %x, want %x", n, ok, got, walk(nil, r))
		}
	}
	for _, r := range []Record{
		&ClientRequest{Kept: unknown},
		&ClientRequest{HeaderKept: unknown},
		&Step{Kept: unknown},
		&Step{HeaderKept: unknown},
		&Step{Result: Result{Failure: &Failure{}}},
		&Step{Result: Result{Kept: unknown}},
		&Step{Delta: Delta{Clear: true}},
		&Step{Delta: Delta{Kept: unknown}},
		&Step{Letters: []Posted{{}}},
		&Step{Dead: "d"},
		&Issued{Kept: unknown},
		&Issued{HeaderKept: unknown},
		&Issued{Delta: Delta{Reminders: []Reminder{{}}}},
		&Begun{},
	} {
		if got, ok := byHand([]byte("before"), r); ok || string(got) != "before" {
			t.Errorf("%+v: written by hand %v: %x", r, ok, got)
		}
	}
}

// BenchmarkAppend writes the two records of a call.
func BenchmarkAppend(b *testing.B) {
	request := &ClientRequest{
		ID: ID{1}, Until: 1 << 40, Target: Address{Type: "account", Actor: "alice", Index: 3}, Method: "deposit", Args: []byte("100"), Reply: "memory/1",
	}
	step := &Step{Epoch: 1, Link: Link{ID: ID{1}, Life: 1 << 40}, Result: Result{Value: []byte("200")}, Delta: Delta{Cells: []Cell{{Name: "balance", Value: []byte("1200")}}}}
	for name, write := range map[string]func([]byte, Record) []byte{"walker": walk, "append": Append} {
		b.Run(name, func(b *testing.B) {
			var out []byte
			for b.Loop() {
				out = write(out[:0], request)
				out = write(out[:0], step)
			}
		})
	}
}
