package simtest

import (
	"bytes"
	"errors"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// saving checks that a snapshot is what the log says.
func (j *Judge) saving(p record.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, n := j.ledger(p), uint32(len(m.Chunks)) //nolint:gosec // few
	if m.At > int64(len(l.log)) {
		j.fail("H9: a snapshot of %v as of %d, where the log ends at %d", p, m.At, len(l.log))
		return
	}
	asOf := make(map[journal.Chunk]string)
	s := machine.New(p)
	for at := int64(0); at <= m.At; at++ {
		for _, c := range m.Chunks {
			if c.At == at {
				asOf[c] = string(s.Chunk(c.Number, n))
			}
		}
		if at < m.At {
			apply(s, &l.log[at])
		}
	}
	if !bytes.Equal(s.Core(), m.Core) {
		j.fail("H9: the snapshot of %v as of %d is not what the log says", p, m.At)
	}
	for _, c := range m.Chunks {
		if asOf[c] != string(s.Chunk(c.Number, n)) {
			j.fail("H9: chunk %d of %v has changed between %d and %d", c.Number, p, c.At, m.At)
		}
		if b, fresh := chunks[c]; fresh && string(b) != asOf[c] {
			j.fail("H9: chunk %d of %v as of %d is not what the log says", c.Number, p, c.At)
		}
	}
}

func apply(s *machine.State, e *journal.Entry) {
	r, err := record.Decode(e.Data)
	if errors.Is(err, record.ErrCorrupt) || errors.Is(err, record.ErrUnknown) {
		s.Skip(e.At)
		return
	}
	s.Apply(r, e.At)
}

func (j *Judge) truncated(p journal.Partition, below, durable int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if below > durable {
		j.fail("H9: %v is cut off below %d, and its snapshot is as of %d", p, below, durable)
	}
}
