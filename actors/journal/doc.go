// Package journal is what actors need of a log: the port that a broker, or one
// process's memory, implements.
//
// # The promise of a log
//
// A partition is a sequence of entries with growing offsets. Whoever reads it
// sees the same entries in the same order, and an entry that was acknowledged
// is never lost. That is all that the safety of actors rests on: not on who is
// said to own a partition, nor on clocks. [Membership] may be wrong for a
// while: two owners of a partition cost time, never an effect, since the log
// itself tells them apart.
//
// # Who calls
//
// An owner of a partition appends and reads; so does, with fewer rights to be
// heard, everybody who sends. Functions that are handed over (done, wake) are
// called from any goroutine, also before the call that took them returns, and
// never block.
package journal
