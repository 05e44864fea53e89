package memory

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// snapshotFiles keeps snapshots in files: one for each chunk, and one for the
// manifest, which is put in place last.
type snapshotFiles struct {
	dir      string
	unsynced bool

	mu     sync.Mutex
	all    map[journal.Partition]journal.Manifest
	saving map[journal.Partition]*sync.Mutex
}

// newSnapshotFiles reads the manifests that are there.
func newSnapshotFiles(dir string, unsynced bool) (*snapshotFiles, error) {
	s := &snapshotFiles{
		dir: dir, unsynced: unsynced,
		all: make(map[journal.Partition]journal.Manifest), saving: make(map[journal.Partition]*sync.Mutex),
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.manifest"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		var stored storedManifest
		text, err := readSummed(path)
		if err == nil {
			err = json.Unmarshal(text, &stored)
		}
		if err != nil {
			return nil, fmt.Errorf("snapshot %s: %w", path, err)
		}
		s.all[stored.Partition] = stored.Manifest
	}
	return s, s.tidy()
}

// tidy removes what a crash has left behind: chunks that no manifest names, and
// files that were never put in place.
func (s *snapshotFiles) tidy() error {
	named := make(map[string]bool)
	for p, m := range s.all {
		named[s.path(p)+".manifest"] = true
		for _, c := range m.Chunks {
			named[s.chunkPath(p, c)] = true
		}
	}
	paths, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if !named[path] {
			_ = os.Remove(path) // what stays is not read
		}
	}
	return nil
}

type storedManifest struct {
	Partition journal.Partition
	Manifest  journal.Manifest
}

func (s *snapshotFiles) latest(p journal.Partition) (journal.Manifest, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.all[p]
	return m, ok, nil
}

func (s *snapshotFiles) chunk(p journal.Partition, c journal.Chunk) ([]byte, error) {
	b, err := readSummed(s.chunkPath(p, c))
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errNoChunk(p, c), err)
	}
	return b, nil
}

// turn is held by who saves a snapshot of a partition.
func (s *snapshotFiles) turn(p journal.Partition) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saving[p] == nil {
		s.saving[p] = new(sync.Mutex)
	}
	return s.saving[p]
}

// save writes the chunks, then the manifest, then removes what nobody needs.
func (s *snapshotFiles) save(p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	turn := s.turn(p)
	turn.Lock()
	defer turn.Unlock()
	old, ok, _ := s.latest(p) // it does not fail
	if ok && old.At >= m.At {
		return nil
	}
	if err := s.complete(p, m, old, chunks); err != nil {
		return err
	}
	if err := s.writeChunks(p, chunks); err != nil {
		return err
	}
	text, err := json.Marshal(storedManifest{p, m})
	if err == nil {
		err = s.write(s.path(p)+".manifest", text)
	}
	if err == nil {
		err = s.sync()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.all[p] = m
	s.mu.Unlock()
	s.drop(p, old, m)
	return nil
}

// writeChunks writes what a manifest is going to name. If that fails nothing new
// is left: on a full disk each further try would fill it up again.
func (s *snapshotFiles) writeChunks(p journal.Partition, chunks map[journal.Chunk][]byte) (err error) {
	var added []string
	defer func() {
		if err != nil {
			for _, path := range added {
				_ = os.Remove(path) // what stays is not read
			}
		}
	}()
	for c, b := range chunks {
		path := s.chunkPath(p, c)
		if _, err := os.Lstat(path); err != nil { // else a manifest may name it already
			added = append(added, path)
		}
		if err := s.write(path, b); err != nil {
			return err
		}
	}
	return s.sync()
}

// complete checks that what the manifest names is there, or is to be written.
func (s *snapshotFiles) complete(p journal.Partition, m, old journal.Manifest, chunks map[journal.Chunk][]byte) error {
	there := make(map[journal.Chunk]bool, len(old.Chunks))
	for _, c := range old.Chunks {
		there[c] = true
	}
	for _, c := range m.Chunks {
		if _, is := chunks[c]; !is && !there[c] {
			return errNoChunk(p, c)
		}
	}
	return nil
}

// drop removes the chunks that only the old manifest names.
func (s *snapshotFiles) drop(p journal.Partition, old, m journal.Manifest) {
	needed := make(map[journal.Chunk]bool, len(m.Chunks))
	for _, c := range m.Chunks {
		needed[c] = true
	}
	for _, c := range old.Chunks {
		if !needed[c] {
			_ = os.Remove(s.chunkPath(p, c)) // what stays is not read
		}
	}
}

func (s *snapshotFiles) path(p journal.Partition) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s-%d", url.PathEscape(p.Type), p.Index))
}

func (s *snapshotFiles) chunkPath(p journal.Partition, c journal.Chunk) string {
	return fmt.Sprintf("%s-%d-%d.chunk", s.path(p), c.Number, c.At)
}

// write writes a file with its checksum in front.
func (s *snapshotFiles) write(path string, b []byte) error {
	sum := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), crc32.Checksum(b, castagnoli))
	return replaceFile(path, append(sum, b...), s.unsynced)
}

// sync makes the names of what was written durable.
func (s *snapshotFiles) sync() error {
	if s.unsynced {
		return nil
	}
	return syncDir(s.dir)
}

func readSummed(path string) ([]byte, error) {
	b, err := os.ReadFile(path) //nolint:gosec // in the folder that the user gave
	if err != nil {
		return nil, err
	}
	if len(b) < 4 || binary.BigEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		return nil, fmt.Errorf("%s is damaged: its checksum differs", path)
	}
	return b[4:], nil
}

// writeFile puts a whole file in place, durably.
func writeFile(path string, b []byte) error {
	if err := replaceFile(path, b, false); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// replaceFile puts a whole file in place: readers see the old one or the new.
func replaceFile(path string, b []byte, unsynced bool) error {
	next := path + ".next"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // in the folder that the user gave
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil && !unsynced {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		_ = os.Remove(next) // what stays is not read
	}
	return err
}
