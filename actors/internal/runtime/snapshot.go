package runtime

import (
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// snapshots says when to make the next snapshot. A snapshot is a pure function
// of the log, so it does not matter who makes it; it is captured between two
// records, which costs what has changed and what lives, and written beside the
// loop.
type snapshots struct {
	records int
	bytes   int64
	core    int // size of the last one's, in bytes
	saving  bool
	retryAt time.Time
}

// count counts a record.
func (s *snapshots) count(size int) {
	s.records++
	s.bytes += int64(size)
}

// smallCore is the size up to which nobody need think of what a core costs.
const smallCore = 256 << 10

// due reports whether there is enough of the log for another snapshot. What
// lives, mostly answers that are kept, is written whole each time: where it is
// much, a log of twice its size lets it cost little a record.
func (s *snapshots) due(c *Config) bool {
	enough := s.records >= c.SnapshotRecords || s.bytes >= c.SnapshotBytes
	return enough && (s.core <= smallCore || s.bytes >= 2*int64(s.core))
}

// snapshot makes a snapshot if it is time: so a takeover reads a bounded part
// of the log, whatever is stuck at its head (A58).
func (inc *incarnation) snapshot() {
	s, c := &inc.snapshots, &inc.node.config
	if s.saving || !s.due(c) || inc.local.Before(s.retryAt) {
		return
	}
	var changes []machine.Change
	inc.guarded(func() { changes = inc.state.Capture() })
	m := journal.Manifest{At: inc.next, Core: inc.state.Core()}
	done := &saved{at: m.At, records: s.records, bytes: s.bytes, began: inc.local}
	s.records, s.bytes, s.core, s.saving = 0, 0, len(m.Core), true
	inc.beside.Go(func() {
		inc.save(done, m, changes)
		inc.post(done)
	})
}

// saveFor bounds the saving of a snapshot.
const saveFor = time.Minute

// save writes the cells that changed and then the rest, which counts on them,
// and cuts the log off below it: never above what is durable (H9). What is
// durable stays so if the cut fails; the next one makes up for it.
func (inc *incarnation) save(done *saved, m journal.Manifest, changes []machine.Change) {
	ctx := inc.scope(new(lazyctx.Ctx), backstay.Now().Add(saveFor))
	defer ctx.Cancel()
	if err := inc.cellar.Save(ctx, m, changes); err != nil {
		done.err = fmt.Errorf("runtime: snapshot of %v as of %d: %w", inc.partition, m.At, err)
		return
	}
	if err := inc.node.log.Truncate(ctx, inc.partition, m.At); err != nil {
		done.uncut = fmt.Errorf("runtime: truncating %v below %d: %w", inc.partition, m.At, err)
	}
}

// saved: a snapshot was written, or not.
type saved struct {
	at      int64
	records int
	bytes   int64
	began   time.Time
	err     error // why it was not
	uncut   error // why the log was not cut off below it
}

// saveAgain is the wait after a failure.
const saveAgain = 5 * time.Second

func (d *saved) happen(inc *incarnation) {
	s := &inc.snapshots
	s.saving = false
	e := Event{Kind: SnapshotSaved, Partition: inc.self, Epoch: inc.epoch, Offset: d.at, Elapsed: time.Since(d.began), Err: d.err}
	if d.err != nil {
		e.Kind = SnapshotFailed
		inc.guarded(inc.state.Unsaved)
		s.records += d.records
		s.bytes += d.bytes
		s.retryAt = inc.local.Add(saveAgain)
	} else {
		inc.guarded(inc.state.Saved)
	}
	inc.node.report(e)
	if d.uncut != nil {
		e.Kind, e.Err = SnapshotFailed, d.uncut
		inc.node.report(e)
	}
}
