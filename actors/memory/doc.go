// Package memory is a log of actors within one process: the embedded default,
// and the cluster of tests, where several nodes share one Log.
//
// # Promise
//
// It keeps the promise of [journal.Log] for as long as the process lives: one
// order per partition, nothing acknowledged is lost, appends are acknowledged
// before Append returns, with the time. Snapshots and truncation keep its size
// to what is in flight and the state of the actors.
//
// # Defaults
//
//	partitions of a type   16
//	largest entry          64 MiB
//	messages of a topic    the newest 1,000 are kept, and those that an open
//	                       source reader has not been through
//
// An ordinary topic has one partition. One that nobody ingests for a while, since
// no host runs, keeps no more than 1,000 messages.
//
// Every type has a log as soon as somebody asks for it. Partitions are shared
// out evenly among the members that host their type; who joins or leaves moves
// as few as possible.
package memory
