package runtime

import (
	"fmt"
	"strings"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// A request that waits for one that waits for it waits for ever, and no
// partition sees the whole circle. What a partition sees is a call that has
// waited for long behind one and the same request. It gives that call up, as
// it would refuse it from a full mailbox, with a failure that tells the chain:
// what has not begun may be ended (H7), and its caller, who is in the circle,
// goes on with an error. Tells wait on: nobody waits for them. A circle in
// which every waiting call has been handed on by a tail call has begun
// everywhere, and is not broken.

// watch makes an appointment to look whether a call waits too long.
func (inc *incarnation) watch(e *machine.Entry) {
	if inc.typ.BusyAfter < 0 || e.Begun || e.Return.Tell() {
		return
	}
	if inc.blocker(e) == nil {
		return
	}
	inc.agenda.add(appointment{at: inc.now + inc.typ.BusyAfter.Milliseconds(), what: dueBusy, subject: subject{id: e.ID}})
}

// blocker is the request that e waits for, nil if it is the next.
func (inc *incarnation) blocker(e *machine.Entry) *machine.Entry {
	var innermost *machine.Entry
	for first := range inc.state.Queue(e.Target.Actor) {
		if first != e {
			innermost = first
		}
		break
	}
	if innermost == nil {
		return nil
	}
	if s := inc.slots[e.Target.Actor]; s != nil {
		for _, a := range s.attempts {
			if k := inc.state.Lookup(a.request.ID); k != nil && k != e && len(k.Ancestors) >= len(innermost.Ancestors) {
				innermost = k
			}
		}
	}
	return innermost
}

// weary gives a call up that has waited too long behind one request.
func (inc *incarnation) weary(id record.ID) {
	e := inc.state.Lookup(id)
	if e == nil || e.Begun || inc.phaseOf(id) != machine.Idle {
		return
	}
	b := inc.blocker(e)
	if b == nil {
		return
	}
	since := inc.owned
	if a := inc.work[b.ID]; a != nil && a != resolving {
		since = a.since
	}
	if left := inc.typ.BusyAfter - inc.sinceLocal(since); left > 0 {
		inc.agenda.add(appointment{at: inc.now + max(left.Milliseconds(), 1), what: dueBusy, subject: subject{id: id}})
		return
	}
	chain := inc.chain(e, b)
	inc.giveUp(e, record.Refused, &record.Failure{
		Code: CodeDeadlock, Message: "it waited " + inc.typ.BusyAfter.String() + ": " + strings.Join(chain, ", "), Detail: []byte(strings.Join(chain, "\n")),
	})
}

// chain tells who waits for whom, as far as this partition can see.
func (inc *incarnation) chain(e, blocker *machine.Entry) []string {
	var lines []string
	if e.Return.Kind == record.ReturnParent {
		lines = append(lines, fmt.Sprintf("request %v at %v called %s", e.Return.Parent, e.Return.Partition, describe(e)))
	}
	lines = append(lines, fmt.Sprintf("%s waits for %s", describe(e), describe(blocker)))
	return append(lines, inc.calls(blocker)...)
}

func describe(e *machine.Entry) string {
	return fmt.Sprintf("%s/%s.%s (request %v)", e.Target.Type, e.Target.Actor, e.Method, e.ID)
}

// sinceLocal is how long ago a local time was, as of this turn.
func (inc *incarnation) sinceLocal(t time.Time) time.Duration { return inc.local.Sub(t) }
