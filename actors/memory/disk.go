package memory

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// disk writes what is appended to files, in batches: while one is being
// synced, the next gathers. One file takes all partitions, so that a batch
// costs one sync.
type disk struct {
	dir         string
	unsynced    bool  // leave syncing to the operating system
	segmentSize int64 // when a file is full

	mu     sync.Mutex // before those of partitions
	queue  []queued
	drop   bool // partitions were truncated: files may be needed no more
	ending bool
	err    error // why nothing can be written any more
	work   chan struct{}
	ended  chan struct{}

	// The rest belongs to the writer.
	parts    func(journal.Partition) *partition
	lock     *os.File
	file     file
	size     int64
	segments []*segment // the last one is being written
	batch    []byte
}

// file is what is written of an os.File.
type file interface {
	Name() string
	WriteAt(b []byte, at int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// queued is an entry on its way to the file.
type queued struct {
	frame
	part *partition
	done func(journal.Place, error)
}

// segment is a file.
type segment struct {
	number int64
	path   string
	size   int64
	last   map[journal.Partition]int64 // the highest offset of each partition in it
}

// note notes that something about a partition is in the file, up to an offset.
func (s *segment) note(p journal.Partition, offset int64) {
	if last, ok := s.last[p]; !ok || last < offset {
		s.last[p] = offset
	}
}

// append queues an entry. Its place is decided here, so that what is queued is
// in the order of offsets.
func (d *disk) append(p journal.Partition, part *partition, data []byte, done func(journal.Place, error)) {
	d.mu.Lock()
	if err := d.refusal(); err != nil {
		d.mu.Unlock()
		done(journal.Place{}, err)
		return
	}
	place := part.reserve(data)
	d.queue = append(d.queue, queued{frame{entryFrame, p, journal.Entry{Place: place, Data: data}}, part, done})
	d.mu.Unlock()
	d.signal()
}

func (d *disk) refusal() error {
	if d.ending {
		return journal.ErrClosed
	}
	return d.err
}

// truncated says that files may be needed no more.
func (d *disk) truncated() {
	d.mu.Lock()
	d.drop = true
	d.mu.Unlock()
	d.signal()
}

func (d *disk) signal() {
	select {
	case d.work <- struct{}{}:
	default:
	}
}

// close waits for what is queued.
func (d *disk) close() error {
	d.mu.Lock()
	d.ending = true
	d.mu.Unlock()
	d.signal()
	<-d.ended
	return errors.Join(d.err, d.file.Close(), d.lock.Close())
}

// write is the writer's loop.
func (d *disk) write() {
	defer close(d.ended)
	for range d.work {
		for {
			batch, drop, ending := d.take()
			if len(batch) > 0 {
				d.commit(batch)
			}
			if drop {
				d.dropSegments()
			}
			if len(batch) == 0 {
				if ending {
					return
				}
				break
			}
		}
	}
}

// take takes what a batch may hold.
func (d *disk) take() (batch []queued, drop, ending bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, size := 0, 0
	for n < len(d.queue) && (n == 0 || size < maxBatch/16) {
		size += len(d.queue[n].Data)
		n++
	}
	batch, d.queue = d.queue[:n:n], d.queue[n:]
	drop, d.drop = d.drop, false
	return batch, drop, d.ending && len(d.queue) == 0
}

// commit writes a batch, and then shows it to readers and tells those who
// appended.
func (d *disk) commit(batch []queued) {
	d.batch = appendHead(d.batch[:0])
	for i := range batch {
		d.batch = appendFrame(d.batch, batch[i].frame)
	}
	if err := d.flush(); err != nil {
		d.retract(batch, err)
		return
	}
	current := d.segments[len(d.segments)-1]
	for i := range batch {
		q := &batch[i]
		current.note(q.Partition, q.Offset)
		wake := q.part.show(q.Offset)
		q.done(q.Place, nil)
		for _, w := range wake {
			w()
		}
	}
	if d.size >= d.segmentSize {
		_ = d.rotate() // goes on with this file, and tries again after the next batch
	}
}

// flush writes the batch that was built, and syncs it.
func (d *disk) flush() error {
	if err := d.broken(); err != nil {
		return err
	}
	synced := d.size
	if d.unsynced {
		synced = 0 // it does not know
	}
	seal(d.batch, synced)
	if _, err := d.file.WriteAt(d.batch, d.size); err != nil {
		if cut := d.file.Truncate(d.size); cut != nil { // half a batch must not stay in the middle
			d.fail(cut)
		}
		return fmt.Errorf("memory: writing %s: %w", d.file.Name(), err)
	}
	if !d.unsynced {
		if err := d.file.Sync(); err != nil { // what is on disk now, nobody can tell
			d.fail(err)
			return fmt.Errorf("memory: syncing %s: %w", d.file.Name(), err)
		}
	}
	d.size += int64(len(d.batch))
	d.segments[len(d.segments)-1].size = d.size
	return nil
}

// retract takes a batch back, and all that was queued behind it and counts on
// its offsets.
func (d *disk) retract(batch []queued, err error) {
	d.mu.Lock()
	all := slices.Concat(batch, d.queue)
	d.queue = nil
	for i := range all {
		all[i].part.retract()
	}
	d.mu.Unlock()
	for i := range all {
		all[i].done(journal.Place{}, err)
	}
}

// fail ends all writing.
func (d *disk) fail(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = fmt.Errorf("memory: nothing can be written to %s any more; mend it and open the log anew: %w", d.dir, err)
	}
}

func (d *disk) broken() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
