package runtime

import (
	"errors"
	"fmt"

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
	inc.reportGivenUp(fx.Left)
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
	inc.expire(expired)
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
