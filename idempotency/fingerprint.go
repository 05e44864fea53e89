package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
)

// Fingerprint stands for what a request asks for. A key that comes back with
// another fingerprint was reused by mistake and is refused.
type Fingerprint [sha256.Size]byte

// FingerprintOf is the fingerprint of parts without a body; see [NewDigest].
func FingerprintOf(parts ...string) Fingerprint { return NewDigest(parts...).Sum() }

// Digest makes a [Fingerprint] while a body streams through it. It is an
// [io.Writer] that never fails. A Digest serves one goroutine.
type Digest struct{ hash hash.Hash }

// NewDigest begins the fingerprint of a request with what precedes its body:
// by convention method, route and principal, in this order. Parts cannot run
// into one another or into the body. Leave out what differs between a request
// and its repetition, such as dates, trace headers and attempt numbers.
//
// The fingerprint is SHA-256 over "backstay/idempotency/fingerprint/1", the
// number of parts in 8 bytes and the parts, each of the strings preceded by
// its length in 8 bytes, all big endian; then the body. This never changes,
// since records outlive upgrades.
func NewDigest(parts ...string) *Digest {
	var room [256]byte
	text := appendPart(room[:0], fingerprintTag)
	text = binary.BigEndian.AppendUint64(text, uint64(len(parts)))
	for _, part := range parts {
		text = appendPart(text, part)
	}
	d := &Digest{hash: sha256.New()}
	_, _ = d.Write(text)
	return d
}

// Write adds a piece of the body. How the body is cut into pieces makes no
// difference.
func (d *Digest) Write(body []byte) (int, error) { return d.hash.Write(body) }

// Sum returns the fingerprint of what was written so far.
func (d *Digest) Sum() Fingerprint {
	var f Fingerprint
	d.hash.Sum(f[:0])
	return f
}

// readBody reads a body of at most limit bytes.
func readBody(body io.Reader, limit int64) (data []byte, tooLarge bool, err error) {
	if body == nil {
		return nil, false, nil
	}
	data, err = io.ReadAll(io.LimitReader(body, limit+1))
	if int64(len(data)) > limit {
		return nil, true, nil
	}
	return data, false, err
}
