package memory

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

func TestATornEndIsCutOffWhereverItWasTorn(t *testing.T) {
	origin := t.TempDir()
	l := opened(t, origin)
	add(t, l, here, "one", "two", "six")
	closeLog(t, l)
	whole := read(t, files(t, origin)[0])
	batch := len(whole) / 3
	for size := range len(whole) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "log.json"), read(t, filepath.Join(origin, "log.json")))
		write(t, filepath.Join(dir, filepath.Base(files(t, origin)[0])), whole[:size])
		l := opened(t, dir, WithoutSync()) // quicker, and no different here
		got := content(t, l, here)
		if want := []string{"0 one", "1 two", "2 six"}; !slices.Equal(got, want[:len(got)]) || len(got) < size/(batch+2) {
			t.Fatalf("cut at %d of %d: %q", size, len(whole), got)
		}
		add(t, l, here, "more")
		closeLog(t, l)
		l = opened(t, dir, WithoutSync())
		if again := content(t, l, here); len(again) != len(got)+1 || !strings.HasSuffix(again[len(got)], "more") {
			t.Fatalf("cut at %d, then opened twice: %q", size, again)
		}
		closeLog(t, l)
	}
}

func TestDamageOfWhatWasAcknowledgedIsAnError(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	add(t, l, here, "one", "two", "six")
	closeLog(t, l)
	path := files(t, dir)[0]
	whole := read(t, path)
	for at := range len(whole) * 2 / 3 { // all but the last batch
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x40
		write(t, path, damaged)
		if l, err := Open(dir); err == nil {
			t.Fatalf("damaged at %d: %q", at, content(t, l, here))
		} else if !strings.Contains(err.Error(), filepath.Base(path)) || !strings.Contains(err.Error(), "damaged at byte") {
			t.Fatalf("damaged at %d: %v", at, err)
		}
		if !bytes.Equal(read(t, path), damaged) {
			t.Fatalf("damaged at %d: the file was changed", at)
		}
	}
	write(t, path, whole)
	l = opened(t, dir) // a refused log is not left locked
	expect(t, l, here, "0 one", "1 two", "2 six")
	closeLog(t, l)
}

func TestAMissingFileOfTheMiddleIsAnError(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	l.disk.segmentSize = 1
	add(t, l, here, "one", "two", "six")
	closeLog(t, l)
	if err := os.Remove(files(t, dir)[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "entry 1 is missing") {
		t.Errorf("opened, with %v", err)
	}
}

func TestAFolderIsOpenOnce(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "has it open") {
		t.Errorf("opened twice: %v", err)
	}
	closeLog(t, l)
	closeLog(t, opened(t, dir))
}

func TestTheNumberOfPartitionsIsFixed(t *testing.T) {
	dir := t.TempDir()
	closeLog(t, opened(t, dir, WithPartitions(3)))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "3 partitions") {
		t.Errorf("opened with another number: %v", err)
	}
	closeLog(t, opened(t, dir, WithPartitions(3)))
}

func TestOffsetsAreNotUsedAgainAfterAllFilesOfAPartitionAreGone(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	l.disk.segmentSize = 1 // a file a batch
	add(t, l, here, "one", "two")
	truncate(t, l, here, 2)
	for range 10 { // of another partition, so that files come and go
		add(t, l, there, "x")
		_, next, _ := l.Bounds(t.Context(), there)
		truncate(t, l, there, next)
	}
	closeLog(t, l)
	if n := len(files(t, dir)); n > crowded {
		t.Errorf("%d files are left", n)
	}
	for range 3 {
		l = opened(t, dir)
		l.disk.segmentSize = 1
		if first, next, _ := l.Bounds(t.Context(), here); first != 2 || next != 2 {
			t.Fatalf("the partition has offsets %d to %d, want 2 to 2", first, next)
		}
		add(t, l, there, "y")
		_, next, _ := l.Bounds(t.Context(), there)
		truncate(t, l, there, next)
		closeLog(t, l)
	}
}

func TestAnIdlePartitionDoesNotKeepOldFiles(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	l.disk.segmentSize = 1
	add(t, l, here, "idle", "idle too")
	for range 20 {
		add(t, l, there, "busy")
		_, next, _ := l.Bounds(t.Context(), there)
		truncate(t, l, there, next)
	}
	closeLog(t, l)
	if n := len(files(t, dir)); n > crowded+2 {
		t.Errorf("%d files are left", n)
	}
	l = opened(t, dir)
	expect(t, l, here, "0 idle", "1 idle too")
	closeLog(t, l)
}

func truncate(t *testing.T, l *Log, p journal.Partition, below int64) {
	t.Helper()
	if err := l.Truncate(t.Context(), p, below); err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBeWrittenIsNotThere(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	add(t, l, here, "one")
	if err := l.disk.file.Close(); err != nil { // the disk is gone
		t.Fatal(err)
	}
	for range 2 {
		if err := try(t, l, here, "two"); err == nil {
			t.Fatal("an append to a disk that is gone was acknowledged")
		}
	}
	oneIsLeft(t, l, dir)
}

// oneIsLeft checks that a log whose writing has ended with "one" says so at its
// end, and goes on from there when it is opened anew.
func oneIsLeft(t *testing.T, l *Log, dir string) {
	t.Helper()
	expect(t, l, here, "0 one")
	if err := l.Close(); err == nil {
		t.Error("Close says nothing of it")
	}
	l = opened(t, dir)
	expect(t, l, here, "0 one")
	add(t, l, here, "two")
	expect(t, l, here, "0 one", "1 two")
	closeLog(t, l)
}

func TestChunksThatACrashLeftBehindAreRemoved(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	m := journal.Manifest{At: 5, Core: []byte("core"), Chunks: []journal.Chunk{{Number: 0, At: 5}}}
	if err := l.Save(t.Context(), here, m, map[journal.Chunk][]byte{{Number: 0, At: 5}: []byte("cells")}); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	orphan := filepath.Join(dir, "snapshots", "t-0-0-9.chunk")
	write(t, orphan, []byte("x"))
	l = opened(t, dir)
	if _, err := os.Stat(orphan); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if b, err := l.Chunk(t.Context(), here, m.Chunks[0]); err != nil || string(b) != "cells" {
		t.Errorf("the chunk that is named: %q, %v", b, err)
	}
	closeLog(t, l)
}

func TestADamagedSnapshotIsAnError(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	m := journal.Manifest{At: 5, Chunks: []journal.Chunk{{Number: 0, At: 5}}}
	if err := l.Save(t.Context(), here, m, map[journal.Chunk][]byte{{Number: 0, At: 5}: []byte("cells")}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "snapshots", "t-0-0-5.chunk")
	b := read(t, path)
	b[len(b)-1] ^= 1
	write(t, path, b)
	if _, err := l.Chunk(t.Context(), here, m.Chunks[0]); err == nil {
		t.Error("a damaged chunk was read")
	}
	closeLog(t, l)
	manifest := filepath.Join(dir, "snapshots", "t-0.manifest")
	write(t, manifest, read(t, manifest)[1:])
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "t-0.manifest") {
		t.Errorf("opened with a damaged manifest: %v", err)
	}
}

func TestAnEntryOfManyMegabytesIsRefused(t *testing.T) {
	l := New()
	l.Append(here, make([]byte, maxEntry+1), func(_ journal.Place, err error) {
		if !errors.Is(err, journal.ErrTooLarge) {
			t.Errorf("%v, want ErrTooLarge", err)
		}
	})
}

func TestTheNewestMessagesOfATopicAreKept(t *testing.T) {
	l := New()
	for i := range 3*kept + 7 {
		l.Publish(journal.Message{Topic: "news", Value: []byte{byte(i)}}, func(_ journal.Place, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	all := l.Messages("news")
	if len(all) != kept || all[len(all)-1].Value[0] != byte((3*kept+6)%256) {
		t.Errorf("%d messages", len(all))
	}
	if part, err := l.at(topicOf("news")); err != nil || len(part.all()) > 2*kept {
		t.Errorf("%d are in memory, %v", len(part.all()), err)
	}
}
