package runtime

import (
	"fmt"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/journal"
)

// snapshots says when to make the next snapshot, and what of it is new. A
// snapshot is a pure function of the log, so it does not matter who makes it;
// it is captured between two records and written beside the loop.
type snapshots struct {
	n       uint32 // chunks
	at      []int64
	dirty   map[uint32]struct{}
	records int
	bytes   int64
	saving  bool
	retryAt time.Time
	running sync.WaitGroup
}

// begin takes up where the manifest m, perhaps empty, leaves off. If chunks are
// counted differently now, all are new.
func (s *snapshots) begin(inc *incarnation, m journal.Manifest) {
	s.n = inc.node.config.SnapshotChunks
	s.at = make([]int64, s.n)
	s.dirty = make(map[uint32]struct{})
	if len(m.Chunks) != int(s.n) {
		for k := range s.n {
			s.dirty[k] = struct{}{}
		}
		return
	}
	for _, c := range m.Chunks {
		s.at[c.Number%s.n] = c.At
	}
}

// count counts a record.
func (s *snapshots) count(size int) {
	s.records++
	s.bytes += int64(size)
}

// changed notes whose cells changed.
func (s *snapshots) changed(actor string) { s.dirty[machine.ChunkOf(actor, s.n)] = struct{}{} }

// wait waits for a save under way.
func (s *snapshots) wait() { s.running.Wait() }

// snapshot makes a snapshot if it is time: so a takeover reads a bounded part
// of the log, whatever is stuck at its head (A58).
func (inc *incarnation) snapshot() {
	s, c := &inc.snapshots, &inc.node.config
	if s.saving || s.records < c.SnapshotRecords && s.bytes < c.SnapshotBytes || inc.local.Before(s.retryAt) {
		return
	}
	m := journal.Manifest{At: inc.next, Core: inc.state.Core()}
	chunks := make(map[journal.Chunk][]byte, len(s.dirty))
	old := append([]int64(nil), s.at...)
	for k := range s.n {
		if _, is := s.dirty[k]; is {
			s.at[k] = m.At
			chunks[journal.Chunk{Number: k, At: m.At}] = inc.state.Chunk(k, s.n)
		}
		m.Chunks = append(m.Chunks, journal.Chunk{Number: k, At: s.at[k]})
	}
	done := &saved{at: m.At, old: old, dirty: s.dirty, records: s.records, bytes: s.bytes, began: inc.local}
	s.dirty, s.records, s.bytes, s.saving = make(map[uint32]struct{}), 0, 0, true
	s.running.Go(func() {
		done.err = inc.save(m, chunks)
		inc.post(done)
	})
}

// saveFor bounds the saving of a snapshot.
const saveFor = time.Minute

// save writes the snapshot, then cuts the log off below it: never above what is
// durable (H9).
func (inc *incarnation) save(m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	ctx := inc.scope(backstay.Now().Add(saveFor))
	defer ctx.Cancel()
	if err := inc.node.log.Save(ctx, inc.partition, m, chunks); err != nil {
		return fmt.Errorf("runtime: snapshot of %v as of %d: %w", inc.partition, m.At, err)
	}
	if err := inc.node.log.Truncate(ctx, inc.partition, m.At); err != nil {
		return fmt.Errorf("runtime: truncating %v below %d: %w", inc.partition, m.At, err)
	}
	return nil
}

// saved: a snapshot was written, or not.
type saved struct {
	at      int64
	old     []int64
	dirty   map[uint32]struct{}
	records int
	bytes   int64
	began   time.Time
	err     error
}

// saveAgain is the wait after a failure.
const saveAgain = 5 * time.Second

func (d *saved) happen(inc *incarnation) {
	s := &inc.snapshots
	s.saving = false
	e := Event{Kind: SnapshotSaved, Partition: inc.self, Epoch: inc.epoch, Offset: d.at, Elapsed: time.Since(d.began), Err: d.err}
	if d.err != nil {
		e.Kind = SnapshotFailed
		s.at = d.old
		for k := range d.dirty {
			s.dirty[k] = struct{}{}
		}
		s.records += d.records
		s.bytes += d.bytes
		s.retryAt = inc.local.Add(saveAgain)
	}
	inc.node.report(e)
}
