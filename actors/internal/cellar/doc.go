// Package cellar keeps the cells of actors that nobody uses, so that those of
// one actor can be had without the others'.
//
// A partition has one [Cellar]. [OverSnapshots] keeps the cells in the chunks
// of the log's own snapshots: a chunk has the actors of one part of a tree of
// hashes, and one that becomes too large is split, so that a change costs at
// most about the size of a chunk, however many actors there are. [OverStore]
// keeps them in a journal.StateStore, where a change costs its own size.
//
// What is found is as of some offset between the last save that ended and the
// end of the log; the changes since that save, laid over it, make it whole: they
// are absolute, and those that it has already change nothing.
package cellar
