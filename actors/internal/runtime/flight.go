package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// flight is a record of this incarnation that was appended and not applied
// yet. It is never appended again (H3). What is to follow from it is done when
// it is applied, by then.
type flight struct {
	inc   *incarnation
	ack   func(journal.Place, error) // done, made once
	data  []byte
	sent  time.Time
	stage atomic.Uint32
	place journal.Place
	err   error
	acked bool
	then  lander // nil: nothing follows
	// lenient flights may be void: a Fire, an Expired, a Forwarded.
	lenient bool
}

// lander is told when a flight is applied, and whether it was void.
type lander interface{ landed(v machine.Void) }

// landing is a function that is a lander.
type landing func(v machine.Void)

func (f landing) landed(v machine.Void) { f(v) }

// append adds a record to the own log; landed may be nil.
func (inc *incarnation) append(r record.Record, landed landing) {
	f := inc.newFlight(r)
	if landed != nil {
		f.then = landed
	}
	inc.launch(f)
}

// try appends a record that may turn out to be void.
func (inc *incarnation) try(r record.Record, landed landing) {
	f := inc.newFlight(r)
	f.lenient = true
	if landed != nil {
		f.then = landed
	}
	inc.launch(f)
}

func (inc *incarnation) newFlight(r record.Record) *flight {
	f := blankFlight()
	f.inc, f.data = inc, encode(r)
	return f
}

func blankFlight() *flight {
	f := new(flight)
	f.ack = f.done
	return f
}

// emptied is f to be used again, once it has landed; nil if the log has still to
// acknowledge it: it came back by the reader.
func (f *flight) emptied() *flight {
	if f == nil || !f.acked {
		return nil
	}
	*f = flight{ack: f.ack}
	return f
}

// launch appends a record of the attempt, of which one at a time is in flight.
func (a *Attempt) launch(data []byte, then lander) {
	a.flying = true
	if a.flight == nil {
		a.flight = blankFlight()
	}
	f := a.flight
	f.inc, f.data, f.then = a.inc, data, then
	a.inc.launch(f)
}

// alight is after the flight, while the method is not at its end.
func (a *Attempt) alight() {
	a.flying = false
	a.flight = a.flight.emptied()
	a.inc.touch(a.slot.actor)
}

// The stages of a flight: a log that acknowledges while it appends need not
// tell the loop of it by an event.
const (
	starting uint32 = iota
	out             // Append has returned, and the log will tell
	answered        // the log has told before
)

func (inc *incarnation) launch(f *flight) {
	f.sent = inc.local
	inc.flights = append(inc.flights, f)
	inc.node.log.Append(inc.partition, f.data, f.ack)
	if !f.stage.CompareAndSwap(starting, out) {
		f.happen(inc)
	}
}

// done is called by the log, from wherever.
func (f *flight) done(place journal.Place, err error) {
	f.place, f.err = place, err
	if !f.stage.CompareAndSwap(starting, answered) {
		f.inc.post(f)
	}
}

// happen takes the acknowledgement. It counts only with the append time (R20).
// An error leaves the outcome open, unless the log says that it is none: to
// claim again at once tells sooner than to wait whether the record is seen, and
// is right either way (H3).
func (f *flight) happen(inc *incarnation) {
	switch {
	case f.err == nil:
		if f.acked = f.place.At != 0; f.acked {
			inc.acknowledged = true
			inc.node.clock.sample(f.place.At, inc.instant)
		}
	case errors.Is(f.err, journal.ErrTooLarge), errors.Is(f.err, journal.ErrNoType), errors.Is(f.err, journal.ErrClosed):
		inc.resign(f.err)
	default:
		inc.node.report(Event{Kind: AppendFailed, Partition: inc.self, Epoch: inc.epoch, Err: f.err})
		inc.resign(fmt.Errorf("%w: %w", errUnknown, f.err))
	}
}

// overdue reports whether the oldest flight has been out for too long: its
// outcome is unknown, so this incarnation must not go on (H3). Whatever lands
// later is void by its epoch.
func (inc *incarnation) overdue() bool {
	return len(inc.flights) > 0 && inc.local.Sub(inc.flights[0].sent) >= inc.node.config.Patience
}

// claimed finds the flight that an entry of the log is, and takes it off. A
// second copy of it finds none.
func (inc *incarnation) claimed(data []byte) *flight {
	for i, f := range inc.flights {
		if bytes.Equal(f.data, data) {
			inc.unflight(i)
			return f
		}
	}
	return nil
}

func (inc *incarnation) unflight(i int) {
	inc.flights = take(inc.flights, i)
}

// take takes element i out of a list that is short, or loses its first: it
// neither moves much nor lets go of its room.
func take[T any](list []T, i int) []T {
	const short = 32
	if i == 0 && len(list) > short {
		clear(list[:1])
		return list[1:]
	}
	return slices.Delete(list, i, i+1)
}

// ready is the flight that was acknowledged at the next offset to apply.
func (inc *incarnation) ready() *flight {
	for i, f := range inc.flights {
		if f.acked && f.place.Offset == inc.next {
			inc.unflight(i)
			return f
		}
		if !f.acked && i > 8 {
			return nil // acknowledgements come in order: look no further
		}
	}
	return nil
}
