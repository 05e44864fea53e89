package kafka

import (
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

// large is an index of a snapshot of n chunks, and of the next one, which has
// every other chunk anew.
func large(t *testing.T, n uint32) (x *index, own *manifest) {
	t.Helper()
	x = newIndex()
	var offset int64
	add := func(key string, value []byte) {
		x.apply(&message{offset: offset, key: []byte(key), value: value})
		offset++
	}
	write := func(m *manifest, wants func(uint32) bool, top *manifest) {
		m.Core = stored{Save: m.save, Pieces: 1}
		add(blob{m.save, coreName}.key(0), []byte("core"))
		for k := range n {
			if !wants(k) {
				m.Chunks = append(m.Chunks, top.Chunks[k])
				continue
			}
			c := chunk{Number: k, At: m.At, stored: stored{Save: m.save, Pieces: 1}}
			m.Chunks = append(m.Chunks, c)
			add(c.blob().key(0), []byte("chunk"))
		}
		data, err := encodeManifest(m)
		if err != nil {
			t.Fatal(err)
		}
		add(m.manifestKey(), data)
	}
	old := newManifest(1)
	write(old, func(uint32) bool { return true }, nil)
	own = newManifest(2)
	write(own, func(k uint32) bool { return k%2 == 0 }, old)
	return x, own
}

// Both sweeping and loading every chunk would take minutes if either looked at
// all chunks for each.
func TestWhatIsSweptAndLoadedGrowsWithTheChunksAndNotWithTheirSquare(t *testing.T) {
	const n = 20_000
	x, own := large(t, n)
	if keys := x.garbage(own); len(keys) != n/2+2 { // the chunks, the core and the manifest
		t.Errorf("%d of %d keys are garbage", len(keys), 2*n)
	}
	s := &state{index: x}
	for k := range uint32(n) {
		at := s.find(journal.Chunk{Number: k, At: 2 - int64(k%2)})
		if at == nil || at.Save.At != 2-int64(k%2) {
			t.Fatalf("chunk %d is found at %+v", k, at)
		}
	}
}

// A chunk that is there is read, whatever else is missing of its snapshot.
func TestAChunkIsFoundWhereItIsWhole(t *testing.T) {
	x, own := large(t, 4)
	s := &state{index: x}
	x.apply(&message{key: []byte(own.Chunks[0].blob().key(0))})
	if s.find(journal.Chunk{At: 2}) != nil {
		t.Error("one is found that was deleted")
	}
	if s.find(journal.Chunk{Number: 2, At: 2}) == nil || s.find(journal.Chunk{Number: 1, At: 1}) == nil {
		t.Error("others are not found")
	}
	if x.complete(own.save) {
		t.Error("the snapshot is complete without it")
	}
}
