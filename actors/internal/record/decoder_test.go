package record_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/internal/testkit"
)

// A decoder makes its records in the room of earlier ones: nothing of those
// shows, whatever came before, also what was corrupt.
func TestADecoderReadsWhatDecodeReads(t *testing.T) {
	all := samples()
	var d record.Decoder
	for _, first := range all {
		for name, r := range all {
			if _, err := d.Decode(record.Encode(first)); err != nil {
				t.Fatal(err)
			}
			for _, bad := range [][]byte{nil, record.Encode(first)[:9]} {
				if _, err := d.Decode(bad); err == nil {
					t.Fatalf("%x was decoded", bad)
				}
			}
			in := record.Encode(r)
			got, err := d.Decode(in)
			if err != nil || !bytes.Equal(record.Encode(got), in) {
				t.Errorf("%s after a %v: %v, %x, want %x", name, first.Kind(), err, record.Encode(got), in)
			}
		}
	}
}

// Whatever is done to a record, a decoder and Decode read the same or refuse it
// alike.
func TestADecoderReadsWhatDecodeReadsOfSpoiltRecords(t *testing.T) {
	var d record.Decoder
	for name, r := range spoilable() {
		in := record.Encode(r)
		for at := range in {
			for b := range 256 {
				agree(t, &d, name, slices.Concat(in[:at], []byte{byte(b)}, in[at+1:]))
				agree(t, &d, name, slices.Concat(in[:at], []byte{byte(b)}, in[at:]))
			}
			agree(t, &d, name, slices.Delete(slices.Clone(in), at, at+1))
			agree(t, &d, name, in[:at])
		}
	}
}

// What takes more than one byte to spoil.
func TestADecoderRefusesWhatDecodeRefuses(t *testing.T) {
	request, step := byte(record.KindClientRequest), byte(record.KindStep)
	for name, in := range map[string][]byte{
		"an explicit empty field":    {1, step, 0, 1<<1 | 1, 2, 1<<1 | 1, 0},
		"an explicit empty argument": {1, request, 0, 2<<1 | 1, 0, 3<<1 | 1, 1, 'k'},
		"a longer length":            {1, step, 0, 1<<1 | 1, 0x83, 0, 1<<1 | 1, 1, 'v'},
		"a longer length of a cell":  {1, step, 0, 3<<1 | 1, 7, 2<<1 | 1, 5, 0x83, 0, 1<<1 | 1, 1, 'n'},
		"an index of 33 bits":        {1, request, 8, 15<<1 | 1, 6, 3 << 1, 0x80, 0x80, 0x80, 0x80, 0x10},
	} {
		if _, err := new(record.Decoder).Decode(in); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		agree(t, new(record.Decoder), name, in)
	}
}

// spoilable are records of the kinds whose usual form is read by hand.
func spoilable() map[string]record.Record {
	all := samples()
	return map[string]record.Record{
		"request": all["client-request"],
		"tail":    all["step-tail"],
		"issued":  all["issued"],
		"tells":   &record.Step{Epoch: 1, Link: link, Tells: []record.Call{{}, {ID: record.ID{3}, Method: "note", Args: make([]byte, 130)}}},
		"step": &record.Step{
			Epoch: 1, Link: link, Result: record.Result{Value: make([]byte, 130)},
			Delta: record.Delta{Cells: []record.Cell{{Name: "sum", Value: []byte("2")}, {}, {Name: "old", Removed: true}}},
		},
	}
}

func agree(t *testing.T, d *record.Decoder, name string, in []byte) {
	t.Helper()
	want, err := record.Decode(in)
	got, failed := d.Decode(in)
	switch {
	case (err == nil) != (failed == nil), err != nil && err.Error() != failed.Error():
		t.Fatalf("%s: of %x one says %v, the other %v", name, in, err, failed)
	case err == nil && (want.Kind() != got.Kind() || !bytes.Equal(record.Encode(got), in)):
		t.Fatalf("%s: %x was read as %+v, want %+v", name, in, got, want)
	}
}

func FuzzADecoderReadsWhatDecodeReads(f *testing.F) {
	for _, r := range spoilable() {
		f.Add(record.Encode(r))
	}
	var d record.Decoder
	f.Fuzz(func(t *testing.T, in []byte) { agree(t, &d, "fuzz", in) })
}

func TestADecoderReadsAStepWithoutAllocation(t *testing.T) {
	end := record.Step{
		Epoch: 1, Link: link, Result: record.Result{Value: []byte("2")}, Delta: record.Delta{Cells: []record.Cell{{Name: "sum", Value: []byte("2")}}},
	}
	tail := record.Step{Epoch: 1, Link: link, Outcome: record.TailSelf, Tail: &record.Call{Method: "next", Args: []byte("2")}}
	var d record.Decoder
	for _, step := range [][]byte{record.Encode(&end), record.Encode(&tail)} {
		testkit.Allocs(t, 0, func() {
			if _, err := d.Decode(step); err != nil {
				t.Error(err)
			}
		})
	}
}
