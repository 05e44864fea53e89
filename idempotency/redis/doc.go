// Package redis keeps idempotency keys in Redis, where all instances of a
// service find them. Valkey and other servers that run Redis' scripts serve as
// well.
//
// # The problem
//
// A request and its repetition seldom reach the same instance. What one of
// them knows of a key the others have to know at once, and an instance that is
// killed must not take its keys with it.
//
// # The promise
//
//   - Each operation is one script on one key: one round trip, atomic, the same
//     on a single server, behind Sentinel and in a cluster. A server that does
//     not know the script is taught it within the operation.
//   - Of any number of processes that begin with a key at once, one begins.
//   - Leases and retentions are measured by Redis alone. The clocks of the
//     instances do not matter.
//   - No operation lasts longer than Timeout, whatever Redis and the network do.
//   - What Redis cannot be asked for is refused, or let through, as WhenDown
//     says, and the observer is told either way.
//
// # Defaults
//
//	Prefix      backstay:idem:  before every key
//	Timeout     1 s             for an operation with all tries of the client
//	MaxAnswer   1 MiB           of larger answers a guard keeps a mark
//	WhenDown    refuse          or let_through
//
// # Setup
//
// The client is one of go-redis, made by its user, who closes it:
//
//	client := redis.NewClient(&redis.Options{
//		Addr:                  "redis:6379",
//		ContextTimeoutEnabled: true, // required, checked by New
//		DialerRetries:         1,    // a server that refuses connections is noticed at once
//		MaxRetries:            1,    // the guard tries again by itself
//	})
//
// redis.ClusterOptions, for NewClusterClient, and redis.FailoverOptions, for
// NewFailoverClient behind Sentinel, have the same settings.
// redis.UniversalOptions have no DialerRetries: such a client dials five times,
// 100 ms apart, so that a server that refuses connections costs new work up to
// Timeout while nobody knows yet, and a tenth of it afterwards.
//
// TLS, users and the size of the pool are the client's options. A repetition
// that waits looks at its key every 250 ms at most (GuardConfig.Poll), and
// holds no connection meanwhile.
//
// In Redis, set maxmemory-policy to noeviction: every other policy forgets keys
// when memory runs short. A user of Redis needs these rights, and no others:
//
//	~backstay:idem:* +evalsha +eval +exists +hmget +hget +hset +hdel +pexpire +pttl +del
//
// # Sizing
//
// Measured on Redis 7.0 with the keys that a guard makes (36 characters):
//
//	in flight                  240 bytes a key
//	answer of 16 bytes         270
//	answer of 200 bytes        640
//	answer of 2,000 bytes    2,470
//	answer of 20,000 bytes  20,900
//
// Ten new keys a second, kept for the default of 24 h with answers of 200
// bytes, are 864,000 records and 550 MB. A shorter GuardConfig.Retention is
// what makes that smaller.
//
// A key that is begun and completed takes two round trips, and of processors
// that do nothing else 70 µs on the side of the client and 50 µs on that of
// Redis, with 64 callers on one machine of two: 10,000 keys a second use half
// of one Redis. Beyond that, take a cluster: keys spread over it evenly.
//
// # When Redis fails
//
// New work, where Redis
//
//   - refuses connections: 503 as soon as the client says so, within Timeout;
//     under let_through the work is done, unprotected.
//   - hangs: the same after Timeout, and for those that come later after a tenth
//     of it.
//   - is full, and may not evict: 503 with Retry-After for new keys, while known
//     ones are served; under let_through the work for new keys is done.
//
// Work that has begun, where Redis
//
//   - goes away and comes back: lease and answer are tried again until the
//     lease has passed. Nothing is lost.
//   - comes back without the key: the work goes on and takes its key back,
//     unless another copy has it by then.
//   - is away when the work ends: the caller gets its answer, about three
//     timeouts later at most, and the observer is told idempotency.AnswerNotKept.
//
// Work that was let through is not waited with: Redis is told once how it ended,
// for a tenth of Timeout at most if it does not answer, and the caller gets its
// answer.
//
// A Redis that does not answer is asked all the same: by one operation in each
// Timeout patiently, by the others for a tenth of it. So it is found again at
// once, and costs little until then. Completion always waits in full under
// refuse, because an answer that is not kept is work done twice.
//
// The observer of [WithScope] is told of each operation that failed
// (idempotency.StoreFailed) and of each piece of work that begins unprotected
// (idempotency.LetThrough). A caller whose own deadline comes first gets that
// as its error; Redis is blamed, and the observer told, if it had a tenth of
// Timeout.
//
// # What is not guaranteed
//
// A key is known as long as Redis knows it. Work may be done a second time
//
//   - after a failover: replication is asynchronous, and what a new master did
//     not get, it does not know;
//   - after a restart without the last writes (appendfsync everysec loses a
//     second, snapshots lose minutes, no persistence loses everything);
//   - after an eviction, a FLUSHALL, or a jump of the server's clock;
//   - while work is let through.
//
// An effect that must not come twice even then needs a key of its own in the
// system that has it (see idempotency.Derive).
//
// An operation that got no answer may take effect later. At worst a key is in
// flight for one lease though nobody works on it.
//
// # Pitfalls
//
//   - Two services with one prefix share their keys, and each meets the other's
//     as a mismatch. Give each its own Prefix.
//   - A caller that cancels waits for the operation under way, up to Timeout:
//     what was sent takes effect, and what follows must not overtake it.
//   - Under let_through a copy that waits while the first is at work does the
//     work, too, when Redis goes away.
//   - Reading from replicas is not supported, and go-redis does not do it for
//     scripts.
//   - [ErrCorrupt] says that a key holds what this package did not write; it is
//     left as it is.
//
// # Not for
//
// A lock: see package idempotency. Answers of megabytes: Redis serves one
// command at a time, and everybody waits for the large ones.
package redis
