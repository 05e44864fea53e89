package kafka

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/backstay-go/backstay/actors/journal"
)

// draft is a snapshot that is being saved, by one goroutine.
type draft struct {
	*state
	of      journal.Partition
	content journal.Manifest
	fresh   map[journal.Chunk][]byte // chunks that are new
	own     *manifest                // as it is written
	rounds  int

	// As of the beginning of a round.
	top *manifest                // the newest other snapshot that is complete, or nil
	old map[journal.Chunk][]spot // chunks that are neither new nor top's
}

func newManifest(at int64) *manifest {
	var random [8]byte
	_, _ = rand.Read(random[:]) // does not fail
	return &manifest{save: save{At: at, Writer: hex.EncodeToString(random[:])}}
}

// round writes the snapshot, and reports whether it is good, or there is a newer
// one. It is not good if others have saved in between.
func (d *draft) round(ctx context.Context) (done bool, err error) {
	err = d.consult(ctx, func() {
		d.top, d.own.Seen = d.highest(d.own.save), d.next
		if done = d.superseded(d.top); !done {
			d.gather()
		}
	})
	if done || err != nil {
		return done, err // nobody needs this one
	}
	if err := d.write(ctx); err != nil {
		return false, err
	}
	err = d.consult(ctx, func() {
		now := d.highest(d.own.save)
		if done = now == d.top && d.complete(d.own.save) || d.superseded(now); done {
			d.sweep(d.own)
		}
	})
	return done, err
}

func (d *draft) superseded(by *manifest) bool { return by != nil && by.At >= d.own.At }

// gather looks for the chunks that are to be written anew. The index is held.
func (d *draft) gather() {
	d.old = make(map[journal.Chunk][]spot)
	for _, c := range d.content.Chunks {
		if _, is := d.fresh[c]; is || d.top.find(c) != nil {
			continue
		}
		if at := d.find(c); at != nil {
			d.old[c] = d.where(at.blob(), at.Pieces)
		}
	}
}

// write writes what top does not have, then the manifest.
func (d *draft) write(ctx context.Context) error {
	var out batch
	d.own.Core = d.store(&out, coreName, d.content.Core)
	d.own.Chunks = d.own.Chunks[:0]
	for _, c := range d.content.Chunks {
		at, err := d.place(ctx, &out, c)
		if err != nil {
			return fmt.Errorf("%w (%v)", err, d.of)
		}
		d.own.Chunks = append(d.own.Chunks, chunk{Number: c.Number, At: c.At, stored: at})
	}
	if err := d.locate(ctx); err != nil {
		return err
	}
	record, err := d.record(&out)
	if err != nil {
		return err
	}
	if err := out.wait(ctx); err != nil {
		return err
	}
	d.add(&out, d.own.manifestKey(), value(record))
	return out.wait(ctx)
}

// locate notes where the blobs are that others have written: who has read on
// from Seen only has to be told.
func (d *draft) locate(ctx context.Context) error {
	return d.consult(ctx, func() {
		d.own.each(func(b blob, at *stored) bool {
			at.Offsets = nil
			if b.save == d.own.save {
				return true
			}
			for _, piece := range d.where(b, at.Pieces) {
				at.Offsets = append(at.Offsets, piece.offset)
			}
			return true
		})
	})
}

// record returns the manifest's record, and writes a list of the chunks if it
// has no room for them.
func (d *draft) record(out *batch) ([]byte, error) {
	d.rounds++
	d.own.List = nil
	data, err := encodeManifest(d.own)
	if err != nil || len(data) <= d.room() {
		return data, err
	}
	chunks, err := json.Marshal(d.own.Chunks)
	if err != nil {
		return nil, err
	}
	name := nameList(d.rounds)
	short := *d.own
	short.Chunks, short.List = nil, &list{name, d.store(out, name, chunks)}
	d.own.List = short.List
	return encodeManifest(&short)
}

// place says where a chunk is, or writes it: because it is new, or because top
// does not refer to it.
func (d *draft) place(ctx context.Context, out *batch, c journal.Chunk) (stored, error) {
	if data, is := d.fresh[c]; is {
		return d.store(out, chunkName(c), data), nil
	}
	if at := d.top.find(c); at != nil {
		return at.stored, nil
	}
	pieces, is := d.old[c]
	if !is {
		return stored{}, fmt.Errorf("kafka: nobody has written chunk %d as of %d", c.Number, c.At)
	}
	data, err := d.body(ctx, pieces)
	if err != nil {
		return stored{}, err
	}
	return d.store(out, chunkName(c), data), nil
}

// room is the size in bytes of the largest value.
func (d *draft) room() int {
	const around = 4 << 10 // the key, and what a record and a batch have beside it
	return max(d.largest()-around, around)
}

// store writes a blob.
func (d *draft) store(out *batch, name string, data []byte) stored {
	b := blob{d.own.save, name}
	pieces := split(data, d.room())
	for k, piece := range pieces {
		d.add(out, b.key(k), value(piece))
	}
	return stored{Save: b.save, Pieces: len(pieces)}
}
