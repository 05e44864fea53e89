package actorstest

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

func noSnapshot(r *rig) {
	if m, ok, err := r.Manifest(r.Context(), r.p); ok || err != nil {
		r.Errorf("%v, %v, %v", m, ok, err)
	}
}

// chunked is a snapshot as of an offset; its chunks are as of those given.
func chunked(at int64, chunks ...int64) journal.Manifest {
	m := journal.Manifest{At: at, Core: fmt.Appendf(nil, "core of %d", at)}
	for n, c := range chunks {
		m.Chunks = append(m.Chunks, journal.Chunk{Number: uint32(n), At: c}) //nolint:gosec // few
	}
	return m
}

func contentOf(c journal.Chunk) []byte { return fmt.Appendf(nil, "chunk %d of %d", c.Number, c.At) }

// save writes a snapshot with the chunks of it that are as of its own offset.
func (r *rig) save(m journal.Manifest) error {
	chunks := make(map[journal.Chunk][]byte)
	for _, c := range m.Chunks {
		if c.At == m.At {
			chunks[c] = contentOf(c)
		}
	}
	return r.Save(r.Context(), r.p, m, chunks)
}

func (r *rig) mustSave(m journal.Manifest) {
	r.Helper()
	if err := r.save(m); err != nil {
		r.Fatalf("Save as of %d: %v", m.At, err)
	}
}

// expect checks that this is the newest snapshot, and whole.
func (r *rig) expect(want journal.Manifest) {
	r.Helper()
	m, ok, err := r.Manifest(r.Context(), r.p)
	if err != nil || !ok || m.At != want.At || !bytes.Equal(m.Core, want.Core) || !reflect.DeepEqual(m.Chunks, want.Chunks) {
		r.Fatalf("snapshot %+v, %v, %v; want %+v", m, ok, err, want)
	}
	for _, c := range m.Chunks {
		if b, err := r.Chunk(r.Context(), r.p, c); err != nil || !bytes.Equal(b, contentOf(c)) {
			r.Errorf("chunk %v: %q, %v", c, b, err)
		}
	}
}

func newestSnapshot(r *rig) {
	first, second := chunked(10, 10, 10), chunked(20, 20, 20)
	r.mustSave(first)
	r.expect(first)
	r.mustSave(second)
	r.expect(second)
	r.mustSave(second) // by somebody else, who knows as much
	r.expect(second)
	other := *r
	other.p = journal.Partition{Type: OtherType, Index: 1}
	if _, ok, err := r.Manifest(r.Context(), other.p); ok || err != nil {
		r.Errorf("another partition has a snapshot: %v, %v", ok, err)
	}
}

// lateSnapshot: a zombie's snapshot must not hide a newer one below which the
// log was cut off (H9).
func lateSnapshot(r *rig) {
	newer := chunked(20, 20, 20, 20)
	r.mustSave(newer)
	_ = r.save(chunked(10, 10, 10, 10)) // may be refused
	r.expect(newer)
	kept := chunked(30, 20, 30, 20)
	r.mustSave(kept)
	_ = r.save(chunked(25, 25, 25, 25))
	r.expect(kept)
}

func keptChunks(r *rig) {
	r.mustSave(chunked(10, 10, 10, 10))
	r.mustSave(chunked(20, 10, 20, 10))
	r.mustSave(chunked(30, 10, 20, 30))
	r.expect(chunked(30, 10, 20, 30))
}

func incompleteSnapshot(r *rig) {
	whole := chunked(10, 10, 10)
	r.mustSave(whole)
	if err := r.save(chunked(30, 20, 30)); err == nil { // nobody ever wrote chunk 0 as of 20
		r.Error("a snapshot was saved one of whose chunks does not exist")
	}
	r.expect(whole)
}

func concurrentSaves(r *rig) {
	const highest = 12
	var wg sync.WaitGroup
	for at := int64(1); at <= highest; at++ {
		wg.Go(func() { _ = r.save(chunked(at, at, at)) })
	}
	wg.Wait()
	r.expect(chunked(highest, highest, highest))
}
