package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/internal/cron"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// reminderKey names a reminder, or, by its id, a request that waits for its time.
type reminderKey struct {
	actor, name string
	id          record.ID
}

// checkPeriod refuses what [after] could not make anything of.
func checkPeriod(s string) error {
	_, _, err := after(0, s, 0)
	return err
}

// subject is that of its appointment.
func (k reminderKey) subject() subject { return subject{id: k.id, actor: k.actor, name: k.name} }

// ring makes the appointment of a reminder that is set for a tick.
func (inc *incarnation) ring(at int64, key reminderKey, tick int64) {
	inc.agenda.add(appointment{at: at, what: dueReminder, subject: key.subject(), tick: tick})
}

// remind makes the appointment of what was set or moved, or cancels that of what
// was removed.
func (inc *incarnation) remind(d machine.Due) {
	key := reminderKey{d.Actor, d.Name, d.ID}
	if d.At > 0 {
		inc.ring(d.At, key, d.At)
		return
	}
	inc.agenda.cancel(dueReminder, key.subject())
	delete(inc.fired, key)
}

// fire appends what is due, if it is still set for that time and is not being
// fired already. While what it fired last still lives it waits: a slow method
// would be buried in ticks, and what it missed is counted anyway.
func (inc *incarnation) fire(x *appointment) {
	key := reminderKey{x.actor, x.name, x.id}
	if _, busy := inc.firing[key]; busy || inc.leaving {
		return
	}
	if x.name == "" {
		inc.tryFire(key, &record.Fire{Epoch: inc.epoch, ID: x.id, Target: record.Address{Type: inc.self.Type, Actor: x.actor, Index: inc.self.Index}, Tick: x.tick})
		return
	}
	r, ok := inc.state.Reminder(x.actor, x.name)
	if !ok || r.Next != x.tick {
		return
	}
	if id := inc.fired[key]; inc.state.Lookup(id) != nil {
		inc.held[id] = key
		return
	}
	f := &record.Fire{Epoch: inc.epoch, ID: inc.ids.next(), Target: record.Address{Type: inc.self.Type, Actor: x.actor, Index: inc.self.Index}, Name: x.name, Tick: x.tick}
	var err error
	if f.Then, f.Missed, err = after(r.Next, r.Period, max(r.Next, inc.reached())); err != nil { // a zone that this host does not know
		inc.node.report(Event{Kind: OutputLost, Partition: inc.self, Epoch: inc.epoch, Actor: x.actor, Name: x.name, Err: err, Wait: unfiredAgain})
		inc.ring(inc.now+unfiredAgain.Milliseconds(), key, x.tick)
		return
	}
	inc.tryFire(key, f)
}

// reached is a time that the log's clock has reached for sure: that of the last
// record, and what has passed here since. By the owner's estimate, which may be
// ahead, ticks would be left out that are not due yet.
func (inc *incarnation) reached() int64 {
	return inc.state.Clock() + inc.instant.Sub(inc.applied).Milliseconds()
}

// unfiredAgain is the wait before a reminder is looked at again whose next tick
// could not be told: another host may own it then.
const unfiredAgain = time.Minute

// after is the first tick after now, and how many between were missed. The
// period is empty for what fires once, a duration, or a line of package cron.
func after(tick int64, period string, now int64) (then int64, missed uint64, err error) {
	switch {
	case period == "":
		return 0, 0, nil
	case cron.Is(period):
		s, err := cron.Read(period)
		if err != nil {
			return 0, 0, fmt.Errorf("%w: %w", ErrPeriod, err)
		}
		then, missed = s.Then(tick, now)
		return then, missed, nil
	}
	d, err := time.ParseDuration(period)
	if err != nil || d < time.Millisecond {
		return 0, 0, fmt.Errorf("%w of at least 1ms: %q", ErrPeriod, period)
	}
	ms := d.Milliseconds()
	n := max((now-tick)/ms, 0)
	return tick + (n+1)*ms, uint64(n), nil
}

// tryFire appends a Fire, one at a time for each reminder. If the log's clock
// says that it is early, which is no fault of this incarnation, it is tried
// again (R39).
func (inc *incarnation) tryFire(key reminderKey, f *record.Fire) {
	inc.firing[key] = struct{}{}
	inc.try(f, func(v machine.Void) {
		delete(inc.firing, key)
		if v == machine.Effective {
			if key.name != "" && f.Then > 0 {
				inc.fired[key] = f.ID
			} else {
				delete(inc.fired, key)
			}
			inc.node.report(Event{Kind: ReminderFired, Partition: inc.self, Epoch: inc.epoch, Actor: key.actor, Name: key.name, ID: f.ID})
			return
		}
		switch early := f.Tick - inc.state.Clock(); {
		case early <= 0 || inc.moved(key, f.Tick): // a copy of it came first; or its new time may have come meanwhile
			inc.recall(key)
		case inc.state.Clock() == 0:
			inc.node.report(Event{Kind: OutputLost, Partition: inc.self, Epoch: inc.epoch, Actor: key.actor, Name: key.name, Err: errNoClock})
		default:
			inc.ring(inc.now+min(early, 1000), key, f.Tick)
		}
	})
}

// release lets a reminder fire that waited for its last request to end.
func (inc *incarnation) release(id record.ID) {
	key, ok := inc.held[id]
	if !ok {
		return
	}
	delete(inc.held, id)
	inc.recall(key)
}

// recall makes the appointment of a reminder again, whose own found that it
// could not fire.
func (inc *incarnation) recall(key reminderKey) {
	if r, set := inc.state.Reminder(key.actor, key.name); set {
		inc.ring(r.Next, key, r.Next)
	}
}

// moved reports whether a reminder is not set for a tick any more.
func (inc *incarnation) moved(key reminderKey, tick int64) bool {
	r, set := inc.state.Reminder(key.actor, key.name)
	return key.name != "" && (!set || r.Next != tick)
}

// errNoClock: ticks are judged by the log's own clock, so that they come once.
var errNoClock = errors.New("runtime: reminders and delayed requests need a log that has append times")
