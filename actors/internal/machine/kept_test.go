package machine

import (
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// What is kept for minutes or years must not hold the record that it came in:
// a step may have a great deal beside an answer of a few bytes.
func TestWhatIsKeptHoldsNothingElseOfItsRecord(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	data := record.Encode(&record.Step{
		Epoch: 1, Link: linkOf(1), Result: record.Result{Value: []byte("answer")},
		Delta: record.Delta{Reminders: []record.Reminder{{Name: "r", Next: 50, Method: "m", Args: []byte("args"), Baggage: []byte("baggage")}}},
	})
	step, err := record.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	effective(t, s, step)
	clear(data)
	if result, done, _ := s.Answer(record.ID{1}); !done || string(result.Value) != "answer" {
		t.Errorf("the answer is %q", result.Value)
	}
	if r := s.reminders["a"]["r"]; string(r.Args) != "args" || string(r.Baggage) != "baggage" {
		t.Errorf("the reminder has %q and %q", r.Args, r.Baggage)
	}
}
