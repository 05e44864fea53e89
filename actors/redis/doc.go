// Package redis keeps the states of actors in Redis: a journal.StateStore for
// actors whose states together are large beside what changes of them.
//
// # The problem
//
// Without a store the cells of actors are in the snapshots of their log, in
// chunks of many actors. To change one actor writes its chunk anew, and to load
// one reads its chunk. With many millions of actors that change all over, that
// is much more than what has changed.
//
// # The promise
//
// A change costs its own size, and a save one round trip for 500 actors. An
// actor is loaded in one round trip. Owners that are out of date change
// nothing: every script compares the offset as of which it writes with the
// highest one that anybody began to write as of. A Redis that has forgotten what
// it was told, since it was started with an older dump or evicts keys, is
// noticed as far as its marks tell: nothing is loaded or saved then, and an
// owner refuses the partition, until it is restored.
//
// # Settings
//
//	Prefix    "backstay:actors:"   before every key
//
// # Example
//
//	client := goredis.NewClient(&goredis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
//	store, err := redis.New(redis.Config{}, client)
//	...
//	node, err := actors.Open(ctx, actors.Config{State: store}, log, ...)
//
// # Pitfalls
//
// The log is cut off below what was saved. So Redis must keep what it has
// acknowledged: appendonly yes, appendfsync always, maxmemory-policy noeviction.
// With appendfsync everysec a crash of Redis can lose what was saved in the last
// second; that is noticed, and then only a copy of the log from before, or the
// loss of these actors' last changes, helps.
//
// Nothing is written to Redis before the first snapshot of a partition, which
// comes after 10,000 records of its log, or 16 MiB: until then all is in the log.
//
// All processes of an application use the same store from the first snapshot
// on: one without it refuses to own the partition.
//
// A partition is one hash tag: in a cluster its actors are on one server.
package redis
