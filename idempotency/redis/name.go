package redis

import (
	"math"
	"strings"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// keyName is the name of a key in Redis. A part of a name that stands between
// braces would decide on its slot in a cluster, and so let whoever chooses keys
// pile them up on one server. An empty pair in front switches that off.
//
// No two keys have one name: what begins with "{}" behind the prefix is a key
// with a brace, and those all do.
func keyName(prefix, key string) string {
	if strings.IndexByte(key, '{') >= 0 {
		return prefix + "{}" + key
	}
	return prefix + key
}

// head is what identifies a claim for a payload.
func head(c idempotency.Claim, f idempotency.Fingerprint) []byte {
	h := make([]byte, 0, headLen)
	h = append(h, f[:]...)
	return append(h, c.Owner[:]...)
}

// millis rounds up, so that a lease in Redis is never shorter than its owner
// thinks; except for the longest duration, which says "for ever" and must come
// back as one.
func millis(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d%time.Millisecond > 0 && ms < time.Duration(math.MaxInt64).Milliseconds() {
		ms++
	}
	return ms
}
