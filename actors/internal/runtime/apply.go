package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// pollBytes is about how much of the log is taken in at once.
const pollBytes = 1 << 20

// pollAgain is the wait after a reader's error.
const pollAgain = 50 * time.Millisecond

// read takes in what the reader has, if it may have something. The flight of
// each own entry is known: it is noted before the entry is appended.
func (inc *incarnation) read() {
	if !inc.mayRead() {
		return
	}
	entries, err := inc.reader.Poll(pollBytes)
	switch {
	case errors.Is(err, journal.ErrOutOfRange):
		inc.outOfRange(err)
	case err != nil: // worth another try
		inc.node.report(Event{Kind: AppendFailed, Partition: inc.self, Epoch: inc.epoch, Err: fmt.Errorf("runtime: reading %v: %w", inc.partition, err), Wait: pollAgain})
		time.AfterFunc(pollAgain, inc.wake)
	default:
		inc.reopened = false
		if len(entries) > 0 {
			inc.readable.Store(true) // there may be more
		}
		inc.meet(entries)
	}
}

// outOfRange: the log no longer has what the reader wants. Below what was
// applied, where acknowledgements were faster, the reader goes on at next; at
// next it means that somebody else owns the partition and has cut it off (H10).
func (inc *incarnation) outOfRange(err error) {
	if inc.reopened {
		inc.resign(fmt.Errorf("runtime: %v was cut off at %d: %w", inc.partition, inc.next, err))
		return
	}
	inc.reader.Close()
	inc.reopened, inc.unread = true, nil
	reader, err := inc.node.log.Read(inc.partition, inc.next, inc.wake)
	if err != nil {
		inc.reader = nil
		inc.resign(fmt.Errorf("runtime: reading %v: %w", inc.partition, err))
		return
	}
	inc.reader = reader
	inc.readable.Store(true)
}

// meet takes what the reader has.
func (inc *incarnation) meet(entries []journal.Entry) {
	for i := range entries {
		if inc.owned.IsZero() && i%glanced == 0 {
			inc.glance(entries[i:])
		}
		e := &entries[i]
		switch {
		case inc.ended != nil:
			return
		case e.Offset < inc.next:
			inc.compare(e)
			continue
		}
		inc.applyAcknowledged()
		if e.Offset < inc.next {
			inc.compare(e)
			continue
		}
		inc.next = e.Offset
		inc.apply(e.Place, e.Data, nil)
	}
}

// applyAcknowledged applies the own records that were acknowledged at exactly
// the next offset: nothing can come between (R18).
func (inc *incarnation) applyAcknowledged() {
	inc.acknowledged = false
	for len(inc.flights) > 0 && inc.ended == nil {
		f := inc.ready()
		if f == nil {
			return
		}
		inc.unread = append(inc.unread, echo{f.place.Offset, f.data})
		inc.apply(f.place, f.data, f)
	}
}

// echo is an own record that the reader has still to come to.
type echo struct {
	offset int64
	data   []byte
}

// compare checks what was applied from an acknowledgement against the log.
// They can only differ if the log has lied about the offset.
func (inc *incarnation) compare(e *journal.Entry) {
	for len(inc.unread) > 0 && inc.unread[0].offset < e.Offset {
		inc.unread = take(inc.unread, 0)
	}
	if len(inc.unread) == 0 || inc.unread[0].offset != e.Offset {
		return
	}
	if !bytes.Equal(inc.unread[0].data, e.Data) {
		inc.resign(fmt.Errorf("runtime: the log acknowledged another record at offset %d of %v than it has there", e.Offset, inc.partition))
	}
	inc.unread = take(inc.unread, 0)
}

// apply applies the record at next. f is its flight, if that is known already.
func (inc *incarnation) apply(at journal.Place, data []byte, f *flight) {
	r, err := inc.decoder.Decode(data) // what was sent is decoded again, never shared
	if err != nil && errors.Is(err, record.ErrUnknown) {
		inc.resign(refusal{fmt.Errorf("runtime: record %d of %v was written by a newer program: %w", at.Offset, inc.partition, err)})
		return
	}
	inc.next++
	inc.applied = inc.instant
	inc.snapshots.count(len(data))
	if err != nil {
		inc.state.Skip(at.At)
		inc.bury(skipped{offset: at.Offset, data: data, err: err})
		return
	}
	if f == nil && len(inc.flights) > 0 {
		f = inc.claimed(data)
	}
	fx := inc.change(r, at.At)
	if inc.owned.IsZero() {
		inc.claim.Records++
		inc.missed.keep(fx, at.At)
	} else {
		inc.follow(r, fx)
	}
	if f != nil {
		inc.land(f, r, fx.Void)
	}
}

// change applies a record to the state: under the guard, if there is anybody who
// may read it.
func (inc *incarnation) change(r record.Record, at int64) *machine.Effects {
	if len(inc.work) > 0 {
		inc.guard.Lock()
		defer inc.guard.Unlock()
	}
	return inc.state.Apply(r, at)
}

// guarded does something else that changes what attempts read.
func (inc *incarnation) guarded(do func()) {
	if len(inc.work) > 0 {
		inc.guard.Lock()
		defer inc.guard.Unlock()
	}
	do()
}

// land does what waited for an own record. One that is void without reason
// means that something is wrong with this incarnation: it gives up.
func (inc *incarnation) land(f *flight, r record.Record, v machine.Void) {
	if v != machine.Effective && !f.lenient && r.Kind() != record.KindTakeover {
		inc.resign(fmt.Errorf("runtime: an own %v of %v was void: %s", r.Kind(), inc.partition, v))
		return
	}
	if f.then != nil {
		f.then.landed(v)
	}
}
