package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/backstay-go/backstay/actors/journal"
)

// Defaults of files.
const (
	segmentSize = 64 << 20
	format      = 1
)

// WithoutSync leaves it to the operating system when what was written reaches
// the disk: what was acknowledged survives a crash of the process, but not one
// of the machine. It is for [Open].
func WithoutSync() Option { return func(l *Log) { l.unsynced = true } }

// Open returns a Log whose entries and snapshots are kept in a folder, which is
// made if it does not exist: a service of one process survives its restarts.
// What was acknowledged is on disk; an end that was torn by a crash is cut
// off. Damage anywhere else is an error that names the file and the position.
// One process at a time can have the folder open.
//
// On a full disk appends fail with the system's error and leave nothing behind;
// as soon as there is room others succeed. After a failure that leaves open what
// is on disk all fail, and say that the folder is to be opened anew.
func Open(dir string, options ...Option) (*Log, error) {
	l := New(options...)
	l.disk = &disk{
		dir: dir, unsynced: l.unsynced, segmentSize: segmentSize,
		work: make(chan struct{}, 1), ended: make(chan struct{}), parts: l.existing,
	}
	if err := l.load(); err != nil {
		return nil, fmt.Errorf("memory: %s: %w", dir, err)
	}
	go l.disk.write()
	return l, nil
}

// load locks the folder, reads it, and begins a file.
func (l *Log) load() (err error) {
	d := l.disk
	if err := os.MkdirAll(filepath.Join(d.dir, "snapshots"), 0o700); err != nil {
		return err
	}
	if d.lock, err = lockFile(filepath.Join(d.dir, "lock")); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = d.lock.Close() // the first error says it
		}
	}()
	if err := l.settle(); err != nil {
		return err
	}
	files, err := newSnapshotFiles(filepath.Join(d.dir, "snapshots"), d.unsynced)
	if err != nil {
		return err
	}
	l.snapshots = files
	if err := l.recover(); err != nil {
		return err
	}
	return d.rotate()
}

// fixed is what cannot be changed for files that exist.
type fixed struct {
	Format     int    `json:"format"`
	Partitions uint32 `json:"partitions"`
}

// settle writes down what is fixed, or compares.
func (l *Log) settle() error {
	path := filepath.Join(l.disk.dir, "log.json")
	want := fixed{Format: format, Partitions: l.count}
	text, err := os.ReadFile(path) //nolint:gosec // in the folder that the user gave
	if errors.Is(err, fs.ErrNotExist) {
		text, err = json.Marshal(want)
		if err != nil {
			return err
		}
		return writeFile(path, text)
	}
	if err != nil {
		return err
	}
	var have fixed
	if err := json.Unmarshal(text, &have); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if have != want {
		return fmt.Errorf("the log has format %d and %d partitions a type, this program wants format %d and %d: the number of partitions is fixed for ever, since it decides where actors live",
			have.Format, have.Partitions, want.Format, want.Partitions)
	}
	return nil
}

// existing returns a partition also of a closed Log.
func (l *Log) existing(p journal.Partition) *partition {
	l.mu.Lock()
	defer l.mu.Unlock()
	part := l.partitions[p]
	if part == nil {
		part = new(partition)
		l.partitions[p] = part
	}
	return part
}
