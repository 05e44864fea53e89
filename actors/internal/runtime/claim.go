package runtime

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/internal/cellar"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// errOutrun: somebody else's claim of the same epoch came first.
var errOutrun = errors.New("runtime: another owner's claim came first")

// acquire claims the partition: it loads the newest snapshot, reads to the end
// of the log, appends a Takeover and reads on until that is applied (R3).
func (inc *incarnation) acquire(ctx context.Context) error {
	if inc.mustDrain() {
		return errDrained
	}
	start := time.Now()
	inc.claim.Assigned = inc.assigned
	if err := inc.load(ctx); err != nil {
		return err
	}
	inc.claim.Snapshot = time.Since(start)
	if err := inc.catchUp(ctx); err != nil {
		return err
	}
	inc.claim.Replay = time.Since(start) - inc.claim.Snapshot
	if err := inc.fits(); err != nil {
		return err
	}
	if err := inc.takeOver(); err != nil {
		return err
	}
	inc.claim.Fence = time.Since(start) - inc.claim.Replay - inc.claim.Snapshot
	inc.node.report(Event{Kind: PartitionOwned, Partition: inc.self, Epoch: inc.epoch, Elapsed: time.Since(start), Takeover: &inc.claim})
	return nil
}

// load restores the newest snapshot and opens the reader behind it. Of cells it
// loads none.
func (inc *incarnation) load(ctx context.Context) error {
	m, ok, err := inc.node.log.Manifest(ctx, inc.partition)
	if err != nil {
		return fmt.Errorf("runtime: snapshot of %v: %w", inc.partition, err)
	}
	inc.state = machine.New(inc.self)
	if ok {
		if inc.state, err = machine.RestoreCore(m.Core); err != nil {
			return refusal{fmt.Errorf("runtime: snapshot of %v as of %d: %w", inc.partition, m.At, err)}
		}
	}
	if err := inc.openCellar(ctx, m); err != nil {
		return err
	}
	inc.next, inc.snapshots.core = m.At, len(m.Core)
	inc.view.State = inc.state
	inc.reader, err = inc.node.log.Read(inc.partition, inc.next, inc.wake)
	if err != nil {
		return fmt.Errorf("runtime: reading %v: %w", inc.partition, err)
	}
	inc.wake()
	return nil
}

// openCellar finds the cells that belong to a snapshot.
func (inc *incarnation) openCellar(ctx context.Context, m journal.Manifest) (err error) {
	c := &inc.node.config
	if c.State != nil {
		inc.cellar, err = cellar.OverStore(ctx, inc.node.log, c.State, inc.partition, m)
	} else {
		inc.cellar, err = cellar.OverSnapshots(inc.node.log, inc.partition, m, c.ChunkSize)
	}
	if errors.Is(err, cellar.ErrLost) {
		return refusal{fmt.Errorf("runtime: %w", err)}
	}
	return err
}

// catchUp reads to where the log ended when it began.
func (inc *incarnation) catchUp(ctx context.Context) error {
	first, end, err := inc.node.log.Bounds(ctx, inc.partition)
	if err != nil {
		return fmt.Errorf("runtime: bounds of %v: %w", inc.partition, err)
	}
	if first > inc.next {
		return fmt.Errorf("runtime: %v begins at %d, above %d, where its newest snapshot ends: %w", inc.partition, first, inc.next, journal.ErrOutOfRange)
	}
	for inc.next < end && inc.ended == nil && !inc.mustDrain() {
		before := inc.next
		inc.turn()
		if inc.next == before && inc.ended == nil && inc.lie() && !inc.doze() {
			break // the log ends in offsets that have no entry
		}
	}
	return inc.ended
}

// doze waits for the reader, and reports false if it had nothing for long.
func (inc *incarnation) doze() bool {
	const long = 2 * time.Second
	t := time.NewTimer(long)
	defer t.Stop()
	select {
	case <-inc.signal:
		return true
	case <-t.C:
		if inc.rise() {
			return false
		}
		<-inc.signal
		return true
	}
}

// fits reports whether this program may own the partition: what the first
// Takeover fixed must be what it is configured with (2.8).
func (inc *incarnation) fits() error {
	partitions, window := inc.state.Fixed()
	count, ours := inc.node.counted(inc.partition.Type), inc.node.config.Window.Milliseconds()
	switch {
	case inc.state.Epoch() == 0 || partitions == count && window == ours:
		return nil
	case partitions != count:
		return refusal{fmt.Errorf("runtime: type %q was made with %d partitions and has %d now: the number is fixed for ever; make a new log and copy the state", inc.partition.Type, partitions, count)}
	default:
		return refusal{fmt.Errorf("runtime: %v was made with a window of %v, this program is configured with %v: it is fixed for ever", inc.partition, time.Duration(window)*time.Millisecond, inc.node.config.Window)}
	}
}

// takeOver appends the Takeover and reads until it is applied. The nonce tells
// it from others of the same epoch (H16).
func (inc *incarnation) takeOver() error {
	if inc.mustDrain() {
		return errDrained // while it was read it became another's, whose methods run
	}
	_, _ = rand.Read(inc.nonce[:]) // never fails
	epoch := inc.state.Epoch() + 1
	inc.tick()
	inc.append(&record.Takeover{
		Epoch: epoch, Nonce: inc.nonce, Owner: inc.node.config.Name,
		Partitions: inc.node.counted(inc.partition.Type), Window: inc.node.config.Window.Milliseconds(),
	}, func(v machine.Void) {
		if v != machine.Effective {
			inc.resign(fmt.Errorf("%w: the Takeover of %v was void: %s", errOutrun, inc.partition, v))
			return
		}
		inc.epoch = epoch
		inc.own()
	})
	for inc.owned.IsZero() && inc.ended == nil {
		inc.turn()
		if inc.owned.IsZero() && inc.ended == nil && inc.layDown() {
			inc.wait()
		}
		if inc.tick(); inc.overdue() {
			inc.resign(errUnknown)
		}
	}
	return inc.ended
}

// errUnknown: an append was neither confirmed nor seen for too long.
var errUnknown = errors.New("runtime: an append is of unknown outcome")

// own begins to act, on the state as of the own Takeover.
func (inc *incarnation) own() {
	inc.owned = inc.local
	inc.ids = newIdentities(inc.self, inc.epoch)
	for _, l := range inc.state.Suspects() { // as of this record, not of the claim (R31)
		inc.suspect[l] = struct{}{}
	}
	if inc.mustDrain() {
		inc.leaving = true
	}
	inc.enter(PhaseOwning, inc)
	for o := range inc.state.Outputs() {
		inc.output(o)
	}
	inc.cancelOrphans()
	for d := range inc.state.Due() {
		inc.remind(d)
	}
	inc.admitAll()
	inc.buryAll()
	inc.ingest()
	inc.makeUp()
}

// admitAll takes in the requests that are there. What has expired meanwhile may be
// all of them: it ends without ever having an appointment.
func (inc *incarnation) admitAll() {
	actors := inc.state.Actors()
	var late []record.Link
	for _, actor := range actors {
		for e, d := range inc.view.Overdue(actor) {
			if d == machine.Expire {
				late = append(late, e.Link)
			}
		}
	}
	inc.expire(late)
	for _, actor := range actors {
		for _, e := range slices.Backward(slices.Collect(inc.state.Queue(actor))) { // the newest are refused
			if inc.phaseOf(e.ID) == machine.Idle {
				inc.admit(e)
			}
		}
		inc.touch(actor)
	}
}

// cancelOrphans tells the children of dead attempts, as of the own Takeover.
// Their ids are never used again, so it may come as late as it likes (H15).
func (inc *incarnation) cancelOrphans() {
	if !inc.typ.CancelOrphans {
		return
	}
	for _, c := range inc.state.IssuedChildren() {
		to := journal.Partition{Type: c.Partition.Type, Index: c.Partition.Index}
		inc.node.log.Append(to, encode(&record.Cancel{Child: c.ID}), func(journal.Place, error) {})
	}
}
