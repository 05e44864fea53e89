package memory

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/backstay-go/backstay/actors/journal"
)

// recovery is what the files say.
type recovery struct {
	starts  map[journal.Partition]int64
	entries map[journal.Partition][]journal.Entry
}

// recover reads the files, oldest first, into the partitions.
func (l *Log) recover() error {
	paths, err := filepath.Glob(filepath.Join(l.disk.dir, "*.log"))
	if err != nil {
		return err
	}
	slices.Sort(paths) // by number, which has leading zeros
	r := recovery{starts: make(map[journal.Partition]int64), entries: make(map[journal.Partition][]journal.Entry)}
	for i, path := range paths {
		s, err := r.read(path, i == len(paths)-1)
		if err != nil {
			return err
		}
		l.disk.segments = append(l.disk.segments, s)
	}
	for p := range r.starts {
		if _, ok := r.entries[p]; !ok {
			r.entries[p] = nil
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(r.entries), comparePartitions) {
		part, err := r.partition(p)
		if err != nil {
			return err
		}
		l.partitions[p] = part
	}
	return nil
}

// read reads a file. Of the last one a torn end is cut off.
func (r *recovery) read(path string, last bool) (*segment, error) {
	content, err := os.ReadFile(path) //nolint:gosec // in the folder that the user gave
	if err != nil {
		return nil, err
	}
	s := &segment{path: path, last: make(map[journal.Partition]int64)}
	if _, err := fmt.Sscanf(filepath.Base(path), "%d.log", &s.number); err != nil {
		return nil, fmt.Errorf("%s is no file of a log: %w", path, err)
	}
	rest := content
	for len(rest) > 0 {
		frames, _, err := open(rest)
		if err != nil {
			at := int64(len(content) - len(rest))
			if !last || acknowledged(rest, at) {
				return nil, fmt.Errorf("%s is damaged at byte %d of %d, and what is there was acknowledged: restore the file, or go on without it by moving the folder away", path, at, len(content))
			}
			return s, cutOff(path, at)
		}
		if err := r.take(frames, s); err != nil {
			return nil, fmt.Errorf("%s: batch at byte %d: %w", path, len(content)-len(rest), err)
		}
		s.size += int64(batchHead + len(frames))
		rest = rest[batchHead+len(frames):]
	}
	return s, nil
}

// acknowledged reports whether a batch somewhere in rest says that what is at
// the position was on disk before it was written.
func acknowledged(rest []byte, at int64) bool {
	for {
		i := bytes.Index(rest[1:], []byte(magic))
		if i < 0 {
			return false
		}
		rest = rest[1+i:]
		if _, synced, err := open(rest); err == nil && synced > at {
			return true
		}
	}
}

func cutOff(path string, at int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // in the folder that the user gave
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // Sync has told
	if err := f.Truncate(at); err != nil {
		return err
	}
	return f.Sync()
}

// take takes the frames of a batch in.
func (r *recovery) take(frames []byte, s *segment) error {
	for len(frames) > 0 {
		f, rest, err := nextFrame(frames)
		if err != nil {
			return err
		}
		frames = rest
		if f.kind == startFrame {
			r.starts[f.Partition] = max(r.starts[f.Partition], f.Offset)
			s.note(f.Partition, f.Offset-1)
			continue
		}
		r.entries[f.Partition] = append(r.entries[f.Partition], f.Entry)
		s.note(f.Partition, f.Offset)
	}
	return nil
}

// partition puts the entries of a partition in order: some were written twice,
// some were truncated.
func (r *recovery) partition(p journal.Partition) (*partition, error) {
	all := r.entries[p]
	slices.SortStableFunc(all, func(a, b journal.Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	all = slices.CompactFunc(all, func(a, b journal.Entry) bool { return a.Offset == b.Offset })
	all = slices.DeleteFunc(all, func(e journal.Entry) bool { return e.Offset < r.starts[p] })
	first := r.starts[p]
	if len(all) > 0 {
		first = all[0].Offset
	}
	part := &partition{entries: sequenceOf(first)}
	for _, e := range all {
		if e.Offset != part.entries.next {
			return nil, fmt.Errorf("partition %v: entry %d is missing: a file of the log is", p, part.entries.next)
		}
		part.entries.add(e)
	}
	part.visible = part.entries.next
	return part, nil
}

func comparePartitions(a, b journal.Partition) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Index, b.Index))
}
