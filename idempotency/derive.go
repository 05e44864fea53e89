package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
)

// The first part of everything that is hashed says what it is for, so that a
// derived key never equals a fingerprint of the same parts.
const (
	deriveTag      = "backstay/idempotency/derive/1"
	fingerprintTag = "backstay/idempotency/fingerprint/1"
)

// Derive makes the key of a smaller piece of work from the key of the whole: a
// step that is retried with the same parent makes the same keys again, so that
// a card is charged once however often the step runs. Names tell apart the
// calls of one parent: ("a", "bc") and ("ab", "c") are different.
//
// An empty parent has no children: Derive("", ...) is empty, so that a request
// without a key does not end up sharing one constant key with all others.
//
// The result is a version 8 UUID (RFC 9562, name-based on SHA-256): the first
// 16 bytes of SHA-256 over "backstay/idempotency/derive/1", parent and the
// names, each preceded by its length in 8 bytes, big endian. This never
// changes: keys that were derived before an upgrade are derived again after it.
func Derive(parent string, names ...string) string {
	if parent == "" {
		return ""
	}
	var room [256]byte // enough for most, so that hashing allocates nothing
	text := appendPart(room[:0], deriveTag)
	text = appendPart(text, parent)
	for _, name := range names {
		text = appendPart(text, name)
	}
	sum := sha256.Sum256(text)
	return formatUUID([16]byte(sum[:16]), 8)
}

// appendPart appends s behind its length: parts written one after another can
// be read in one way only.
func appendPart(text []byte, s string) []byte {
	text = binary.BigEndian.AppendUint64(text, uint64(len(s)))
	return append(text, s...)
}
