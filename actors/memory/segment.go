package memory

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/backstay-go/backstay/actors/journal"
)

// rotate begins the next file.
func (d *disk) rotate() error {
	number := int64(1)
	if len(d.segments) > 0 {
		number = d.segments[len(d.segments)-1].number + 1
	}
	s := &segment{number: number, path: filepath.Join(d.dir, fmt.Sprintf("%016d.log", number)), last: make(map[journal.Partition]int64)}
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := syncDir(d.dir); err != nil {
		_ = file.Close()      // the first error says it
		_ = os.Remove(s.path) // else the next try finds it in its way
		return err
	}
	if d.file != nil {
		_ = d.file.Sync()  // with WithoutSync: only the end of the last file may be torn
		_ = d.file.Close() // what was acknowledged was written
	}
	d.file, d.size, d.segments = file, 0, append(d.segments, s)
	d.dropSegments()
	return nil
}

// crowded is how many files there may be before the oldest is emptied.
const crowded = 4

// dropSegments removes files of which nothing is needed. Where an idle
// partition keeps an old one, what it has in there is written anew. A file that
// cannot be removed stays, and does no harm.
func (d *disk) dropSegments() {
	full := d.segments[:len(d.segments)-1]
	for i, s := range full {
		if d.needed(s) && (i > 0 || len(full) < crowded) {
			continue
		}
		if d.empty(s) == nil && os.Remove(s.path) == nil {
			s.path = ""
		}
	}
	d.segments = slices.DeleteFunc(d.segments, func(s *segment) bool { return s.path == "" })
}

// needed reports whether the file has an entry that was not truncated.
func (d *disk) needed(s *segment) bool {
	for p, last := range s.last {
		if first, _ := d.parts(p).bounds(); first <= last {
			return true
		}
	}
	return false
}

// empty writes down where the partitions of a file begin by now, since offsets
// are never used again, and what is still needed of it. The note of a beginning
// is in turn written anew when its own file goes: a partition may have nothing
// else.
func (d *disk) empty(s *segment) error {
	current := d.segments[len(d.segments)-1]
	d.batch = appendHead(d.batch[:0])
	for _, p := range slices.SortedFunc(maps.Keys(s.last), comparePartitions) {
		first, _ := d.parts(p).bounds()
		d.batch = appendFrame(d.batch, frame{kind: startFrame, Partition: p, Entry: journal.Entry{Place: journal.Place{Offset: first}}})
		current.note(p, first-1)
		for _, e := range d.parts(p).all() {
			if e.Offset > s.last[p] {
				break
			}
			d.batch = appendFrame(d.batch, frame{entryFrame, p, e})
			current.note(p, e.Offset)
		}
	}
	return d.flush()
}

// syncDir makes names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the folder that the user gave
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return f.Sync()
}
