package runtime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// follow does what follows from an applied record, as the owner.
func (inc *incarnation) follow(r record.Record, fx *machine.Effects) {
	for i := range fx.Answers {
		inc.answer(fx.Answers[i])
	}
	for _, o := range fx.Outputs {
		inc.output(o)
	}
	for _, a := range fx.Arrivals {
		inc.arrive(a)
	}
	for i := range fx.Left {
		inc.departed(&fx.Left[i])
	}
	for _, e := range fx.Entered {
		inc.admit(e)
	}
	for _, d := range fx.Reminders {
		inc.remind(d)
	}
	for _, a := range fx.Alarms {
		if a.Reason == machine.AlarmLost { // who gave it up has told, or written a letter
			continue
		}
		inc.node.report(Event{Kind: OutputLost, Partition: inc.self, Epoch: inc.epoch, ID: a.ID, Err: errors.New("runtime: " + string(a.Reason))})
	}
	if fx.Read != nil {
		inc.share(fx.Read)
	}
	inc.heed(r, fx.Void)
}

// heed looks at records of others that matter to an owner.
func (inc *incarnation) heed(r record.Record, v machine.Void) {
	switch r := r.(type) {
	case *record.Takeover:
		if v == machine.Effective && r.Nonce != inc.nonce {
			inc.resign(fmt.Errorf("%w: %q took %v over in epoch %d", ErrLost, r.Owner, inc.partition, r.Epoch))
		}
	case *record.Cancel:
		inc.cancelled(r)
	}
}

// touch has an actor looked at before the turn ends.
func (inc *incarnation) touch(actor string) {
	if n := len(inc.touched); n > 0 && inc.touched[n-1] == actor {
		return
	}
	inc.touched = append(inc.touched, actor)
}

// arrive gives a result to the attempt that called, if it is still there.
func (inc *incarnation) arrive(x machine.Arrival) {
	e := inc.state.Lookup(x.Parent)
	if e == nil {
		return
	}
	inc.touch(e.Target.Actor)
	if a := inc.work[x.Parent]; a != nil {
		a.arrived(x.Child, x.Result)
	}
}

// admit takes in a request that came into its mailbox.
func (inc *incarnation) admit(e *machine.Entry) {
	if inc.full(e) {
		inc.refuse(e)
		return
	}
	inc.enlist(e)
	inc.touch(e.Target.Actor)
}

// enlist makes the appointments of a request.
func (inc *incarnation) enlist(e *machine.Entry) {
	switch {
	case e.Begun:
	case e.Cancelled:
		inc.drop(e)
		return
	case e.Deadline > 0:
		inc.agenda.add(appointment{at: e.Deadline, what: dueDeadline, subject: subject{id: e.ID}})
	}
	inc.watch(e)
}

// departed forgets a request that left its mailbox.
func (inc *incarnation) departed(d *machine.Departure) {
	inc.touch(d.Target.Actor)
	last := inc.reasons[d.ID]
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
	if d.Outcome != record.End && d.Outcome != record.TailSelf && d.Outcome != record.TailOther {
		inc.node.report(Event{
			Kind: RequestGivenUp, Partition: inc.self, Epoch: inc.epoch, Actor: d.Target.Actor, Method: d.Method,
			ID: d.ID, Outcome: d.Outcome, Code: codeOf(d.Outcome), Err: givenUp(d, last),
		})
	}
}

// givenUp says which request it was, and what its last attempt failed with, if
// one did here.
func givenUp(d *machine.Departure, last *Retry) error {
	if last == nil {
		return fmt.Errorf("request %v to %s/%s", d.ID, d.Target.Type, brief(d.Target.Actor))
	}
	return fmt.Errorf("request %v to %s/%s: %s", d.ID, d.Target.Type, brief(d.Target.Actor), last.Reason)
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

// keep does what is due.
func (inc *incarnation) keep() {
	if inc.overdue() {
		inc.resign(errUnknown)
		return
	}
	var expired []record.Link
	for x, ok := inc.agenda.next(inc.now); ok; x, ok = inc.agenda.next(inc.now) {
		if x.what != dueDeadline {
			inc.attend(&x)
			continue
		}
		if l, late := inc.late(x.id); late {
			expired = append(expired, l)
		}
	}
	for links := range slices.Chunk(expired, expiredAtOnce) {
		inc.expire(links)
	}
	inc.passivateIdle()
	inc.snapshot()
}

// attend does what one appointment asks for.
func (inc *incarnation) attend(x *appointment) {
	switch x.what {
	case dueDeadline: // collected by keep
	case dueRetry:
		inc.touch(x.actor)
	case dueBusy:
		inc.weary(x.id)
	case dueReminder:
		inc.fire(x)
	case dueForward:
		inc.forwarding = false
		inc.recordForwarded()
	case dueSend:
		x.dest.resume()
	case dueLoad:
		inc.loadAgain(x.actor)
	case dueAnswer:
		x.dest.look()
	case dueRevoke:
		inc.recallCalls(x)
	}
}

// depart ends an incarnation that was asked to go, when nothing of it is left.
func (inc *incarnation) depart() {
	if !inc.leaving || len(inc.work) > 0 || inc.ended != nil {
		return
	}
	if !inc.farewell { // spares the next owner copies of what was delivered
		inc.farewell = true
		inc.recordForwarded()
		inc.passivateAll()
	}
	if len(inc.flights) == 0 && inc.passing == 0 && inc.reading == 0 {
		inc.resign(errDrained)
	}
}
