package record_test

import (
	"bytes"
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
