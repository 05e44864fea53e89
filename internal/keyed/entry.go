package keyed

import (
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// entry is one key. All but used is immutable.
type entry[T any] struct {
	key   string
	value T
	hash  uint32
	used  atomic.Uint32 // a stamp
}

// stamp tells when a key was last used, in ticks of the clock, and in its
// lowest bit whether it was used again after its creation. Stamps wrap around,
// so they are compared by their distance, which is right for 36 years.
type stamp uint32

const (
	tickBits       = 30 // a tick is 2^30 ns: a shift instead of a division by a second
	tick           = time.Duration(1) << tickBits
	again    stamp = 1
)

// stampOf returns the stamp of a key that is created at now.
func stampOf(now backstay.Instant) stamp { return stamp(now>>tickBits) << 1 }

// since returns how much later s is than earlier, in half ticks; negative if
// it is earlier. Within one tick, a key used again is later than one used once.
func (s stamp) since(earlier stamp) int32 { return int32(s - earlier) }

// halfTicks returns the distance of stamps that is surely longer than d, and
// at most two ticks longer, once it is exceeded.
func halfTicks(d time.Duration) int32 {
	const most = 1 << 29 // 18 years, for whoever means never
	ticks := d / tick
	if d%tick != 0 {
		ticks++
	}
	return 2 * int32(min(ticks, most))
}

// lastUsed returns the stamp of the last use.
func (e *entry[T]) lastUsed() stamp { return stamp(e.used.Load()) }

// touch notes that the key is used at now. It writes once a tick at most, and
// never back in time: callers may bring readings that are a little old.
func (e *entry[T]) touch(now backstay.Instant) {
	if s := stampOf(now) | again; s.since(e.lastUsed()) > 0 {
		e.used.Store(uint32(s))
	}
}
