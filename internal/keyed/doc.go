// Package keyed keeps one value per string key, for registries whose keys come
// from outside: one pipeline per host, one breaker per route.
//
// The promise:
//
//   - [Map.Get] of a known key takes no lock and writes nothing, except the
//     time of last use, at most once a second a key (and once more when a key
//     is used again for the first time).
//   - However many goroutines ask for a new key at once, its value is built
//     once and all of them get it. Building happens outside every lock.
//   - The number of keys is bounded. Keys that nobody used for
//     [Config.IdleAfter] are given up as others are created, a few at each
//     creation; there is no goroutine and no timer. At the bound the least
//     recently used key of a small sample goes; between two that were last
//     used in the same second the one that was used only once goes first, so a
//     flood of random keys pushes out itself and not the keys at work.
//   - A key whose value is busy, as told by [Hooks].Busy, never goes. The map
//     outgrows its bound only where a creation finds nothing but busy values
//     among the 64 it looks at: then it grows by one, and it shrinks again, by
//     up to three keys a creation, once values stop being busy. So the bound
//     is the larger of [Config.MaxKeys] and the number of busy keys, to within
//     two percent and a handful of keys. A substitute value shared by all keys in excess was
//     considered instead: it would let one failing host open the breaker of
//     all others.
//
// The keys stand in shards, each an open-addressed table of atomic pointers
// that is at most half full. Readers probe it without a lock and may, while a
// writer moves an entry, miss it, but never find a wrong one; a miss is
// therefore looked up again under the shard's lock before anything is built.
// An entry takes 32 bytes (key, value pointer, hash, last use) beside the
// bytes of the key, its places in the table 16 to 32.
//
// Lock order: a shard's lock is taken alone, and never held while a hook or a
// build function runs.
package keyed
