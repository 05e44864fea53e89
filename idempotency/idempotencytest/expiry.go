package idempotencytest

import "github.com/backstay-go/backstay/idempotency"

var expiry = []testCase{
	{"the key of an owner that was killed is free after the lease", func(b *bench) {
		c := b.started(b.Lease)
		b.passes(b.Lease)
		b.isFree(c.Key)
	}},
	{"an owner whose lease has passed is fenced off, even if nobody came", func(b *bench) {
		c := b.started(b.Lease)
		b.passes(b.Lease)
		b.isNotOwner(c)
		b.isFree(c.Key)
	}},
	{"a stale owner cannot disturb its successor", func(b *bench) {
		stale := b.started(b.Lease)
		b.passes(b.Lease)
		successor := owner(stale.Key)
		b.begin(successor, printA, long, idempotency.Started)
		b.isNotOwner(stale)
		b.begin(owner(stale.Key), printA, long, idempotency.InFlight)
		b.complete(successor, "the successor's", long)
		b.isNotOwner(stale)
		b.replays(stale.Key, "the successor's")
	}},
	{"a renewed lease outlives the first one", func(b *bench) {
		c := b.started(b.Lease)
		b.renew(c, long)
		b.passes(b.Lease)
		b.begin(owner(c.Key), printA, long, idempotency.InFlight)
		b.complete(c, "answer", long)
	}},
	{"a renewed lease passes, too", func(b *bench) {
		c := b.started(long)
		b.renew(c, b.Lease)
		b.passes(b.Lease)
		b.isNotOwner(c)
		b.isFree(c.Key)
	}},
	{"a record outlives the lease of its work", func(b *bench) {
		c := b.started(b.Lease)
		b.complete(c, "answer", long)
		b.passes(b.Lease)
		b.replays(c.Key, "answer")
	}},
	{"a record is gone after its retention, even within the lease", func(b *bench) {
		c := b.completed("answer", b.Lease)
		b.passes(b.Lease)
		b.isFree(c.Key)
	}},
	{"a replay does not prolong the retention", func(b *bench) {
		c := b.completed("answer", b.Lease)
		b.replays(c.Key, "answer")
		b.passes(b.Lease)
		b.isFree(c.Key)
	}},
	{"a record that is gone leaves nothing of its answer behind", func(b *bench) {
		c := b.completed("the first", b.Lease)
		b.passes(b.Lease)
		second := owner(c.Key)
		b.begin(second, printA, long, idempotency.Started)
		b.complete(second, "", long)
		b.replays(c.Key, "")
	}},
}
