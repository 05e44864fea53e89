package memory

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/backstay-go/backstay/actors/journal"
)

// A file of the log is a sequence of batches, each written and synced as one:
//
//	magic    8 bytes
//	length   4 bytes, of the frames
//	sum      4 bytes, CRC-32C of synced and the frames
//	synced   8 bytes: all of the file before this position is on disk
//	frames
//
// synced tells a torn end from damage: what follows the first batch that does
// not check was never acknowledged, unless a batch behind it says that it was
// on disk already.
const (
	magic      = "backstay"
	batchHead  = len(magic) + 4 + 4 + 8
	maxBatch   = 1 << 30
	entryFrame = 1
	startFrame = 2 // the first entry of a partition that is still there
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFrame says that a batch is not whole.
var errFrame = errors.New("not a whole batch")

// appendHead reserves the head of a batch.
func appendHead(b []byte) []byte { return append(b, make([]byte, batchHead)...) }

// seal fills in the head of a batch that was begun with appendHead.
func seal(b []byte, synced int64) {
	copy(b, magic)
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-batchHead)) //nolint:gosec // at most maxBatch
	binary.BigEndian.PutUint64(b[16:], uint64(synced))          //nolint:gosec // a position
	binary.BigEndian.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
}

// open checks the batch that b begins with, and returns its frames.
func open(b []byte) (frames []byte, synced int64, err error) {
	if len(b) < batchHead || string(b[:8]) != magic {
		return nil, 0, errFrame
	}
	size := int(binary.BigEndian.Uint32(b[8:]))
	if size > maxBatch || len(b)-batchHead < size {
		return nil, 0, errFrame
	}
	whole := b[16 : batchHead+size]
	if crc32.Checksum(whole, castagnoli) != binary.BigEndian.Uint32(b[12:]) {
		return nil, 0, errFrame
	}
	return whole[8:], int64(binary.BigEndian.Uint64(whole)), nil //nolint:gosec // a position
}

// frame is one entry, or where a partition starts.
type frame struct {
	kind byte
	journal.Partition
	journal.Entry
}

func appendFrame(b []byte, f frame) []byte {
	b = append(b, f.kind)
	b = binary.AppendUvarint(b, uint64(len(f.Type)))
	b = append(b, f.Type...)
	b = binary.AppendUvarint(b, uint64(f.Index))
	b = binary.AppendVarint(b, f.Offset)
	b = binary.AppendVarint(b, f.At)
	b = binary.AppendUvarint(b, uint64(len(f.Data)))
	return append(b, f.Data...)
}

// nextFrame takes a frame off b. Its data aliases b.
func nextFrame(b []byte) (f frame, rest []byte, err error) {
	r := cursor{b: b}
	f.kind = r.one()
	f.Type = string(r.bytes())
	f.Index = uint32(r.uvarint()) //nolint:gosec // written as one
	f.Offset, f.At = r.varint(), r.varint()
	f.Data = r.bytes()
	if r.bad || f.kind != entryFrame && f.kind != startFrame {
		return f, nil, errFrame
	}
	return f, r.b, nil
}

// cursor reads fields one after the other; bad if there was no such field.
type cursor struct {
	b   []byte
	bad bool
}

func (r *cursor) one() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.skip(n)
	return v
}

func (r *cursor) varint() int64 {
	v, n := binary.Varint(r.b)
	r.skip(n)
	return v
}

func (r *cursor) skip(n int) {
	if n <= 0 {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}

func (r *cursor) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}
