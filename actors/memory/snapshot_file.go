package memory

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// snapshotFiles keeps snapshots in files: one for each chunk, and one for the
// manifest, which is put in place last.
type snapshotFiles struct {
	dir string

	mu  sync.Mutex
	all map[journal.Partition]journal.Manifest
}

// newSnapshotFiles reads the manifests that are there.
func newSnapshotFiles(dir string) (*snapshotFiles, error) {
	s := &snapshotFiles{dir: dir, all: make(map[journal.Partition]journal.Manifest)}
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

// save writes the chunks, then the manifest, then removes what nobody needs.
func (s *snapshotFiles) save(p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.all[p]
	if ok && old.At >= m.At {
		return nil
	}
	for c, b := range chunks {
		if err := writeSummed(s.chunkPath(p, c), b); err != nil {
			return err
		}
	}
	for _, c := range m.Chunks {
		if _, err := os.Stat(s.chunkPath(p, c)); err != nil {
			return errNoChunk(p, c)
		}
	}
	text, err := json.Marshal(storedManifest{p, m})
	if err != nil {
		return err
	}
	if err := writeSummed(s.path(p)+".manifest", text); err != nil {
		return err
	}
	s.all[p] = m
	for _, c := range old.Chunks {
		if !slices.Contains(m.Chunks, c) {
			_ = os.Remove(s.chunkPath(p, c)) // what stays is not read
		}
	}
	return nil
}

func (s *snapshotFiles) path(p journal.Partition) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s-%d", url.PathEscape(p.Type), p.Index))
}

func (s *snapshotFiles) chunkPath(p journal.Partition, c journal.Chunk) string {
	return fmt.Sprintf("%s-%d-%d.chunk", s.path(p), c.Number, c.At)
}

// writeSummed writes a file with its checksum in front.
func writeSummed(path string, b []byte) error {
	sum := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), crc32.Checksum(b, castagnoli))
	return writeFile(path, append(sum, b...))
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

// writeFile puts a whole file in place: readers see the old one or the new.
func writeFile(path string, b []byte) error {
	next := path + ".next"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // in the folder that the user gave
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
