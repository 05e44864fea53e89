package runtime

import (
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// What the log has still to acknowledge must not be somebody else's when it does.
func TestWhatTheLogHasInItsHandsIsNotUsedAgain(t *testing.T) {
	for _, acked := range []bool{false, true} {
		inc := new(incarnation)
		w := inc.workspace()
		f := blankFlight()
		w.calls, w.flight = 7, f
		f.acked, f.data = acked, []byte("data")
		inc.vacate(&Attempt{workspace: w})
		if next := inc.workspace(); next != w || next.calls != 0 || (next.flight == f) != acked {
			t.Errorf("a workspace, acknowledged %v: used again %v, %+v", acked, next == w, next)
		}
		if acked && (f.acked || f.data != nil) {
			t.Errorf("a flight, to be used again: %+v", f)
		}

		s := &clients{node: new(Node), waiting: make(map[record.ID]*caller)}
		c := s.caller()
		c.call.Method = "method"
		_, ack := c.encode(1)
		if acked {
			ack(journal.Place{At: 1}, nil)
		}
		s.remove(c)
		next := s.caller()
		if (next == c) != acked || next.call.Method != "" || next.copies != 0 || next.over {
			t.Errorf("a caller, acknowledged %v: used again %v, %+v", acked, next == c, next)
		}
		if !acked {
			ack(journal.Place{}, journal.ErrTooLarge)
		}
		if len(next.answer) > 0 {
			t.Error("it has the outcome of the one before")
		}
	}
}
