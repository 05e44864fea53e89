package kafka

import (
	"encoding/json"
	"fmt"

	"github.com/backstay-go/backstay/actors/journal"
)

// manifest is what a manifest's record says: where everything of a snapshot is.
type manifest struct {
	save   `json:"-"`
	Format int    `json:"format"`
	Core   stored `json:"core"`
	// Seen is the offset to which its writer had read when it found no newer
	// snapshot: what it counts on was there. See [glimpse].
	Seen   int64   `json:"seen,omitempty"`
	Chunks []chunk `json:"chunks,omitempty"`
	// List is where the chunks are told, if they are too many for the record.
	List *list `json:"list,omitempty"`

	places map[journal.Chunk]int // in Chunks, of what was read; nil: Chunks is not known yet
}

// The versions of the record.
const (
	inRecord = 1 // the chunks are in the record
	inList   = 2 // they are in a blob
)

// stored is where a blob is: who wrote it, in how many pieces, and at which
// offsets these were, if that was another save.
type stored struct {
	Save    save    `json:"save"`
	Pieces  int     `json:"pieces"`
	Offsets []int64 `json:"offsets,omitempty"`
}

type chunk struct {
	Number uint32 `json:"number"`
	At     int64  `json:"at"`
	stored
}

func (c *chunk) chunk() journal.Chunk { return journal.Chunk{Number: c.Number, At: c.At} }

func (c *chunk) blob() blob { return blob{c.Save, chunkName(c.chunk())} }

func (m *manifest) core() blob { return blob{m.Core.Save, coreName} }

// each calls f with every blob that m needs, and where it is, until f returns
// false; it returns what f returned last.
func (m *manifest) each(f func(b blob, at *stored) bool) bool {
	if !f(m.core(), &m.Core) {
		return false
	}
	if m.List != nil && !f(m.listed(), &m.List.stored) {
		return false
	}
	for i := range m.Chunks {
		if !f(m.Chunks[i].blob(), &m.Chunks[i].stored) {
			return false
		}
	}
	return true
}

// find returns where a chunk is, or nil; of no manifest as well.
func (m *manifest) find(c journal.Chunk) *chunk {
	if m == nil {
		return nil
	}
	i, ok := m.places[c]
	if !ok {
		return nil
	}
	return &m.Chunks[i]
}

// arrange makes chunks be found.
func (m *manifest) arrange() {
	m.places = make(map[journal.Chunk]int, len(m.Chunks))
	for i := range m.Chunks {
		m.places[m.Chunks[i].chunk()] = i
	}
}

func encodeManifest(m *manifest) ([]byte, error) {
	if m.Format = inRecord; m.List != nil {
		m.Format = inList
	}
	return json.Marshal(m)
}

func decodeManifest(s save, data []byte) (*manifest, error) {
	m := &manifest{save: s}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("kafka: manifest: %w", err)
	}
	switch {
	case m.Format == inRecord:
		m.List = nil
		m.arrange()
	case m.Format != inList || m.List == nil:
		return nil, fmt.Errorf("kafka: manifest as of %d has format %d, this program knows %d and %d", s.At, m.Format, inRecord, inList)
	}
	return m, nil
}
