package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// reminderKey names a reminder, or, by its id, a request that waits for its time.
type reminderKey struct {
	actor, name string
	id          record.ID
}

// period reads a reminder's period; empty means that it fires once.
func period(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond {
		return 0, fmt.Errorf("%w of at least 1ms: %q", ErrPeriod, s)
	}
	return d, nil
}

// remind makes the appointment of what was set. What was moved or removed
// leaves an appointment behind that finds nothing to do.
func (inc *incarnation) remind(d machine.Due) {
	if d.At > 0 {
		inc.agenda.add(appointment{at: d.At, what: dueReminder, actor: d.Actor, name: d.Name, id: d.ID, tick: d.At})
		return
	}
	delete(inc.fired, reminderKey{d.Actor, d.Name, d.ID})
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
	f.Then, f.Missed = after(r.Next, r.Period, inc.now)
	inc.tryFire(key, f)
}

// after is the first tick after now, and how many between were missed.
func after(tick int64, every string, now int64) (then int64, missed uint64) {
	d, err := period(every)
	if err != nil || d == 0 {
		return 0, 0
	}
	ms := d.Milliseconds()
	n := max((now-tick)/ms, 0)
	return tick + (n+1)*ms, uint64(n)
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
		case early <= 0: // a copy of it came first, or it was moved, and its new time may have come meanwhile
			inc.recall(key)
		case inc.state.Clock() == 0:
			inc.node.report(Event{Kind: OutputLost, Partition: inc.self, Epoch: inc.epoch, Actor: key.actor, Name: key.name, Err: errNoClock})
		default:
			inc.agenda.add(appointment{at: inc.now + min(early, 1000), what: dueReminder, actor: key.actor, name: key.name, id: key.id, tick: f.Tick})
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
		inc.agenda.add(appointment{at: r.Next, what: dueReminder, actor: key.actor, name: key.name, tick: r.Next})
	}
}

// errNoClock: ticks are judged by the log's own clock, so that they come once.
var errNoClock = errors.New("runtime: reminders and delayed requests need a log that has append times")
