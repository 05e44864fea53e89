package runtime

import (
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// departed forgets a request that left its mailbox.
func (inc *incarnation) departed(d *machine.Departure) {
	inc.touch(d.Target.Actor)
	delete(inc.suspect, d.Link)
	delete(inc.reasons, d.ID)
	if a := inc.work[d.ID]; a == resolving {
		delete(inc.work, d.ID)
	}
	delete(inc.ingests.live, d.ID)
	inc.agenda.cancel(dueDeadline, subject{id: d.ID})
	inc.agenda.cancel(dueBusy, subject{id: d.ID})
	inc.agenda.cancel(dueRetry, subject{actor: d.Target.Actor}) // made again if another link waits for its time
	inc.release(d.ID)
}

// reportGivenUp tells of those that left their mailbox without their method. A
// backlog that has expired leaves by the thousand.
func (inc *incarnation) reportGivenUp(left []machine.Departure) {
	if inc.node.config.Observe == nil {
		return
	}
	var events []Event
	for i := range left {
		d := &left[i]
		if d.Outcome == record.End || d.Outcome == record.TailSelf || d.Outcome == record.TailOther {
			continue
		}
		if events == nil {
			events = make([]Event, 0, len(left)-i)
		}
		events = append(events, Event{
			Kind: RequestGivenUp, Partition: inc.self, Epoch: inc.epoch, Actor: d.Target.Actor, Method: d.Method,
			ID: d.ID, Outcome: d.Outcome, Code: codeOf(d.Outcome), Err: inc.givenUp(d),
		})
	}
	inc.node.reportAll(events)
}

// givenUpError says which request it was, and what its last attempt failed with,
// if one did here. Its text is made for who wants it.
type givenUpError struct {
	id         record.ID
	typ, actor string
	last       *Retry
}

func (inc *incarnation) givenUp(d *machine.Departure) error {
	return &givenUpError{id: d.ID, typ: d.Target.Type, actor: d.Target.Actor, last: inc.reasons[d.ID]}
}

func (e *givenUpError) Error() string {
	text := "request " + e.id.String() + " to " + e.typ + "/" + brief(e.actor)
	if e.last != nil {
		text += ": " + e.last.Reason
	}
	return text
}

func codeOf(o record.Outcome) string {
	switch o {
	case record.Cancelled:
		return CodeCancelled
	case record.Refused:
		return CodeRefused
	case record.Poison:
		return CodePoison
	default:
		return CodeExpired
	}
}
