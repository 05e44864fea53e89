package idempotencytest

import (
	"errors"

	"github.com/backstay-go/backstay/idempotency"
)

// filled opens a store with room for three keys and fills it: the first two are
// completed, with the given retention of the first, the third is in flight.
func (b *bench) filled() (full *bench, keys [3]idempotency.Claim) {
	b.Helper()
	if b.Full == nil {
		b.Skip("the store has no bounds")
	}
	full = &bench{T: b.T, Options: b.Options, store: b.Full(b.T, len(keys))}
	keys[0] = full.completed("the first", b.Lease)
	keys[1] = full.completed("the second", long)
	keys[2] = full.started(long)
	return full, keys
}

// refuses wants that no further key begins.
func (b *bench) refuses() {
	b.Helper()
	c := fresh()
	for range 3 {
		if _, err := b.store.Begin(b.Context(), c, printA, long); !errors.Is(err, idempotency.ErrStoreFull) {
			b.Fatalf("Begin in a full store: %v, want ErrStoreFull", err)
		}
	}
	b.isNotOwner(c)
}

var bounds = []testCase{
	{"a full store refuses and drops nothing that is alive", func(b *bench) {
		full, keys := b.filled()
		full.refuses()
		full.replays(keys[0].Key, "the first")
		full.replays(keys[1].Key, "the second")
		full.begin(owner(keys[2].Key), printA, long, idempotency.InFlight)
		full.begin(owner(keys[2].Key), printB, long, idempotency.Mismatched)
	}},
	{"in a full store the work that has begun can be completed", func(b *bench) {
		full, keys := b.filled()
		full.renew(keys[2], long)
		full.complete(keys[2], "the third", long)
		full.replays(keys[2].Key, "the third")
		full.refuses()
	}},
	{"a release makes room", func(b *bench) {
		full, keys := b.filled()
		full.release(keys[2])
		full.started(long)
		full.refuses()
	}},
	{"what has expired makes room", func(b *bench) {
		full, keys := b.filled()
		full.passes(b.Lease)
		full.started(long)
		full.refuses()
		full.replays(keys[1].Key, "the second")
	}},
}
