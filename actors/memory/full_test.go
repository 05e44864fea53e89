package memory

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

// cramped is a file on a disk with little room: what does not fit is written as
// far as it does.
type cramped struct {
	file
	room  int64         // in bytes, for the whole file
	stuck bool          // nor can it be cut
	turn  chan struct{} // a write says that it begins, and waits, if there is one
}

func (c *cramped) WriteAt(b []byte, at int64) (int, error) {
	if turn := c.turn; turn != nil {
		turn <- struct{}{}
		<-turn
	}
	if at+int64(len(b)) <= c.room {
		return c.file.WriteAt(b, at)
	}
	n, err := c.file.WriteAt(b[:max(c.room-at, 0)], at)
	return n, errors.Join(err, &os.PathError{Op: "write", Path: c.Name(), Err: syscall.ENOSPC})
}

func (c *cramped) Truncate(size int64) error {
	if c.stuck {
		return &os.PathError{Op: "truncate", Path: c.Name(), Err: syscall.EIO}
	}
	return c.file.Truncate(size)
}

// crammed puts a log's file on such a disk.
func crammed(l *Log) *cramped {
	c := &cramped{file: l.disk.file, room: 1 << 40}
	l.disk.file = c
	return c
}

// On a disk that becomes full in the middle of a batch all of the batch fails, and
// what waits behind it; what was acknowledged is there, also after a restart.
func TestOnAFullDiskAppendsFailAndGoOnWhenThereIsRoom(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	c := crammed(l)
	add(t, l, here, "one")
	add(t, l, there, "other")
	turn := make(chan struct{})
	c.turn = turn
	acked := make(chan error, 30)
	appendTo := func(p journal.Partition, data string) {
		l.Append(p, []byte(data), func(_ journal.Place, err error) { acked <- err })
	}
	appendTo(here, "two")
	<-turn
	const waiting = 20 // in one batch, while that is being written
	for range waiting / 2 {
		appendTo(here, strings.Repeat("x", 100))
		appendTo(there, strings.Repeat("y", 100))
	}
	c.room = l.disk.size + 500
	turn <- struct{}{}
	if err := <-acked; err != nil {
		t.Errorf("what still fits: %v", err)
	}
	<-turn
	appendTo(here, "behind") // it would fit
	c.turn = nil
	turn <- struct{}{}
	for range waiting + 1 {
		if err := <-acked; !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v: it does not say what is full", err)
		}
	}
	expect(t, l, here, "0 one", "1 two")
	expect(t, l, there, "0 other")

	c.room = 1 << 40
	add(t, l, there, "more")
	expect(t, l, there, "0 other", "1 more")
	closeLog(t, l)
	l = opened(t, dir)
	expect(t, l, here, "0 one", "1 two")
	expect(t, l, there, "0 other", "1 more")
	closeLog(t, l)
}

// Half a batch that cannot be taken off the disk ends all writing. The next who
// opens the folder cuts it off.
func TestHalfABatchThatStaysOnAFullDiskEndsTheLogAndIsCutOff(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	c := crammed(l)
	add(t, l, here, "one")
	c.room, c.stuck = l.disk.size+40, true
	if err := try(t, l, here, strings.Repeat("x", 100)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	c.room, c.stuck = 1<<40, false
	if err := try(t, l, here, "two"); err == nil || !strings.Contains(err.Error(), "open the log anew") {
		t.Errorf("behind half a batch: %v", err)
	}
	oneIsLeft(t, l, dir)
}

// A snapshot that cannot be written whole leaves the older one, and nothing of its
// own.
func TestASnapshotThatDoesNotFitLeavesTheOlderOneAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	old := journal.Manifest{At: 5, Chunks: []journal.Chunk{{Number: 0, At: 5}}}
	if err := l.Save(t.Context(), here, old, map[journal.Chunk][]byte{old.Chunks[0]: []byte("cells")}); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	taken := filepath.Join(dir, "snapshots", "t-0-1-9.chunk", "x") // so that this one cannot be put in place
	if err := os.MkdirAll(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	next := journal.Manifest{At: 9, Chunks: []journal.Chunk{{Number: 0, At: 9}, {Number: 1, At: 9}, {Number: 2, At: 9}}}
	chunks := make(map[journal.Chunk][]byte)
	for _, c := range next.Chunks {
		chunks[c] = []byte("newer")
	}
	for range 5 { // in whatever order they are written
		if err := l.Save(t.Context(), here, next, chunks); err == nil {
			t.Fatal("it was saved")
		}
	}
	if err := os.RemoveAll(filepath.Dir(taken)); err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir); !slices.Equal(left, before) {
		t.Errorf("there is %q, want %q", left, before)
	}
	if b, err := l.Chunk(t.Context(), here, old.Chunks[0]); err != nil || string(b) != "cells" {
		t.Errorf("the older one has %q, %v", b, err)
	}
	if err := l.Save(t.Context(), here, next, chunks); err != nil {
		t.Error(err)
	}
	closeLog(t, l)
}

// names are the files of snapshots.
func names(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "snapshots", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
