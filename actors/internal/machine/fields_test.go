package machine

import (
	"reflect"
	"slices"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// S11, R15, R16: a snapshot has every field of a state. The test has to fill each,
// or says which it is that it does not know.
func TestS11_ASnapshotHasEveryField(t *testing.T) {
	s := filled()
	exempt := []string{"scratch", "spare", "gone", "blanks", "coreSize", "changed", "taken", "roots"} // no part of the state, or follow from it
	unfilled(t, "State", reflect.ValueOf(s).Elem(), exempt)
	unfilled(t, "Entry", reflect.ValueOf(s.Lookup(record.ID{1})).Elem(), []string{"prev", "next"})
	unfilled(t, "root", reflect.ValueOf(s.roots.of(record.ID{1})).Elem(), []string{"answer", "number"}) // where it is
	unfilled(t, "outbox", reflect.ValueOf(s.out[record.Dest{Topic: "dead"}]).Elem(), nil)
	unfilled(t, "Reminder", reflect.ValueOf(*s.reminders["a"]["r"]), nil)
	again, err := Restore(s.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*State{s, again} { // what is no part of the state
		x.scratch, x.spare, x.gone, x.blanks, x.coreSize, x.changed, x.taken = Effects{}, nil, nil, nil, 0, nil, nil
	}
	if !reflect.DeepEqual(s, again) {
		t.Errorf("restored:\n%+v\nwant:\n%+v", again, s)
	}
}

// filled is a state without an empty field.
func filled() *State {
	s := New(record.Partition{Type: "t", Index: 3})
	s.partitions, s.window, s.epoch, s.clock = 8, 10, 4, 77
	s.enter(&Entry{
		Request: record.Request{
			Link: record.Link{ID: record.ID{1}, Life: 2, Seq: 3}, Target: record.Address{Type: "t", Actor: "a", Index: 3},
			Deadline: 5, NotBefore: 6, Method: "m", Args: []byte("x"), Key: "k", Begun: true, Missed: 7, Baggage: []byte("b"),
			Return:    record.Return{Kind: record.ReturnParent, Partition: record.Partition{Type: "u", Index: 1}, Parent: record.ID{9}, Reply: "r"},
			Ancestors: []record.ID{{9}},
		},
		Calls: 1, Tries: 2, RetryAt: 3, Queued: 4, Held: true, Cancelled: true,
		issued: []Child{{ID: record.ID{8}, Partition: record.Partition{Type: "u", Index: 2}}},
	})
	s.write("a", s.resident("a"), &record.Delta{Cells: []record.Cell{{Name: "c", Value: []byte("v")}}})
	s.in[record.Partition{Type: "u", Index: 1}] = 12
	dest := record.Dest{Topic: "dead"}
	s.out[dest] = &outbox{last: 5, waiting: []Output{{Dest: dest, Number: 5, Message: &record.Letter{Key: "l"}}}}
	s.roots.close(s.roots.open(record.ID{1}, 90), s.roots.archive.put(&record.Result{Value: []byte("answer")}))
	s.reminders["a"] = map[string]*Reminder{"r": {record.Reminder{Name: "r", Next: 99, Period: "1m", Method: "m", Args: []byte("x"), Baggage: []byte("b")}}}
	s.delayed[record.ID{4}] = &record.Request{Link: record.Link{ID: record.ID{4}}, Target: record.Address{Type: "t", Actor: "a", Index: 3}, NotBefore: 80, Method: "m"}
	s.ingress[source{"topic", 2}] = 44
	return s
}

// unfilled names the fields of a struct that have their zero value. What is kept
// of newer programs' fields is no matter here.
func unfilled(t *testing.T, where string, v reflect.Value, exempt []string) {
	t.Helper()
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		switch {
		case slices.Contains(exempt, f.Name) || f.Type == reflect.TypeFor[codec.Kept]():
		case x.Kind() == reflect.Struct:
			unfilled(t, where+"."+f.Name, x, nil)
		case x.IsZero() || x.Kind() == reflect.Map && x.Len() == 0:
			t.Errorf("%s.%s is not in this test: is it in snapshots?", where, f.Name)
		}
	}
}
