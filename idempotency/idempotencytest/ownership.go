package idempotencytest

import (
	"strings"

	"github.com/backstay-go/backstay/idempotency"
)

var ownership = []testCase{
	{"a key that nobody has used is started", func(b *bench) {
		b.started(long)
	}},
	{"a key in flight is told to others with what is left of its lease", func(b *bench) {
		c := b.started(long)
		got := b.begin(owner(c.Key), printA, long, idempotency.InFlight)
		if got.Remaining <= 0 || got.Remaining > long {
			b.Errorf("%v remain of a lease of %v", got.Remaining, long)
		}
	}},
	{"the owner may begin again because the answer was lost", func(b *bench) {
		c := b.started(b.Lease)
		b.begin(c, printA, long, idempotency.Started)
		b.passes(b.Lease)
		b.begin(owner(c.Key), printA, long, idempotency.InFlight) // the lease is the later one
		b.complete(c, "answer", long)
	}},
	{"another payload is a mismatch even while in flight", func(b *bench) {
		c := b.started(long)
		b.begin(owner(c.Key), printB, long, idempotency.Mismatched)
		b.begin(c, printB, long, idempotency.Mismatched) // also from its owner
		b.begin(owner(c.Key), printA, long, idempotency.InFlight)
	}},
	{"another payload is a mismatch after completion", func(b *bench) {
		c := b.completed("answer", long)
		b.begin(owner(c.Key), printB, long, idempotency.Mismatched)
		b.replays(c.Key, "answer")
	}},
	{"a mismatch changes neither owner nor lease", func(b *bench) {
		c := b.started(b.Lease)
		b.begin(owner(c.Key), printB, long, idempotency.Mismatched)
		b.renew(c, b.Lease)
		b.passes(b.Lease)
		b.isFree(c.Key)
	}},
	{"asking for a key in flight does not prolong its lease", func(b *bench) {
		c := b.started(b.Lease)
		b.begin(owner(c.Key), printA, long, idempotency.InFlight)
		b.passes(b.Lease)
		b.isFree(c.Key)
	}},
	{"nobody but the owner may renew, complete or release", func(b *bench) {
		c := b.started(long)
		b.isNotOwner(owner(c.Key))
		b.begin(owner(c.Key), printA, long, idempotency.InFlight)
		b.complete(c, "answer", long)
	}},
	{"a key that was never begun has no owner", func(b *bench) {
		c := fresh()
		b.isNotOwner(c)
		b.isFree(c.Key)
	}},
	{"a released key is free at once, for any payload", func(b *bench) {
		c := b.started(long)
		b.release(c)
		b.isNotOwner(c)
		b.isFree(c.Key)
	}},
	{"who has completed does not own the key any longer", func(b *bench) {
		c := b.completed("answer", long)
		if b.store.Renew(b.Context(), c, b.Lease) == nil {
			b.Error("Renew after Complete succeeded")
		}
		if b.store.Release(b.Context(), c) == nil {
			b.Error("Release after Complete succeeded")
		}
		b.passes(b.Lease)
		b.replays(c.Key, "answer")
	}},
	{"keys are independent, whatever they look like", func(b *bench) {
		unique := idempotency.NewKey()
		for _, key := range []string{
			unique, unique + " ", " " + unique, strings.ToUpper(unique + "x"), unique + "x",
			unique + ":a", unique + ":a:b", "{" + unique + "}", unique + "*", unique + "?", unique + "[a]", unique + "%00",
			unique + `"\'`, unique + "/../" + unique, strings.Repeat("k", idempotency.MaxKeyLen-len(unique)) + unique,
		} {
			c := owner(key)
			b.begin(c, idempotency.FingerprintOf(key), long, idempotency.Started)
			b.complete(c, key, long)
			got := b.begin(owner(key), idempotency.FingerprintOf(key), long, idempotency.Completed)
			if string(got.Record.Answer) != key {
				b.Errorf("key %q has the answer of %q", key, got.Record.Answer)
			}
		}
	}},
}
