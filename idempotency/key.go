package idempotency

import (
	"context"
	"crypto/rand"
	"encoding/hex"
)

// MaxKeyLen is the longest key that is accepted, in characters.
const MaxKeyLen = 255

// CheckKey returns nil if key can be used: 1 to [MaxKeyLen] characters of
// printable ASCII, space included. Otherwise its error matches [ErrKeyInvalid]
// and says what is wrong.
func CheckKey(key string) error {
	switch {
	case key == "":
		return invalidKey(key, "it is empty")
	case len(key) > MaxKeyLen:
		return invalidKey(key, "it is longer than 255 characters")
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return invalidKey(key, "it contains a character that is not printable ASCII")
		}
	}
	return nil
}

// NewKey makes a random key: a version 4 UUID with 122 random bits. The bits
// are never taken from a buffer, so that two copies of one virtual machine's
// snapshot do not make the same keys.
func NewKey() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: documented since Go 1.24
	return formatUUID(id, 4)
}

// formatUUID writes id as a UUID of the given version, which replaces six bits.
func formatUUID(id [16]byte, version byte) string {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	var text [36]byte
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:36], id[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

type outgoingKey struct{}

// WithKey returns a context whose next call carries key, whatever the policy
// of its target says: it wins over a generated one. It also makes the call
// repeatable. The key should pass [CheckKey]; protocols refuse a call whose
// key does not. The empty key hides an inherited one, and a key that already
// stands in the request itself wins over it.
//
// Every call that is made with the context carries the key. Where one piece of
// work makes several calls, give each its own: see [Derive].
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, outgoingKey{}, key)
}

// KeyFrom returns the key that calls made with ctx carry: the one given to
// [WithKey], or made by [Ensure]. Empty if there is none.
func KeyFrom(ctx context.Context) string {
	key, _ := ctx.Value(outgoingKey{}).(string)
	return key
}
