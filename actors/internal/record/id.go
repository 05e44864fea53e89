package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// ID names a request for as long as it lives: a client makes 16 random bytes,
// an owner uses [ChildID]. It is the same in all links of a chain of tail calls.
type ID [16]byte

// String returns 32 hexadecimal digits.
func (i ID) String() string { return hex.EncodeToString(i[:]) }

// Zero reports whether no id is given.
func (i ID) Zero() bool { return i == ID{} }

// Limits of what [ChildID] can tell apart.
const (
	MaxPartitions = 1 << 16 // of one type
	MaxEpoch      = 1<<32 - 1
	MaxCounter    = 1<<40 - 1
)

// ChildID is the id of the counter-th request that an owner makes. An epoch
// has one owner and a retry counts on, so it is never used twice: a late
// Cancel for the child of a dead attempt cannot meet a live one (H15).
//
// The type goes in as 40 bits of its hash: the chance that two of a hundred
// types share them is one in 200 million.
func ChildID(p Partition, epoch, counter uint64) ID {
	if p.Index >= MaxPartitions || epoch > MaxEpoch || counter > MaxCounter {
		panic(fmt.Sprintf("record: no id for partition %v, epoch %d, counter %d", p, epoch, counter))
	}
	sum := sha256.Sum256([]byte(p.Type))
	var id ID
	copy(id[:5], sum[:])
	binary.BigEndian.PutUint16(id[5:], uint16(p.Index))
	binary.BigEndian.PutUint32(id[7:], uint32(epoch))
	id[11] = byte(counter >> 32)
	binary.BigEndian.PutUint32(id[12:], uint32(counter))
	return id
}

// IngestID is the id of the request that a message of a source topic becomes:
// the same whoever reads the message.
func IngestID(topic string, partition uint32, offset uint64) ID {
	return hashID("ingest", topic, fmt.Sprint(partition), fmt.Sprint(offset))
}

// hashID makes an id of words, each preceded by its length.
func hashID(words ...string) ID {
	h := sha256.New()
	for _, word := range words {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(word)))
		h.Write(length[:])
		h.Write([]byte(word))
	}
	return ID(h.Sum(nil)[:16])
}
