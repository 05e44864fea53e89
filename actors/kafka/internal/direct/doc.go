// Package direct carries answers from the owners of actors to those who wait for
// them over connections of their own, instead of over a topic.
//
// # Problem
//
// An answer over a topic waits for a broker to write it, and for a fetch. It is
// the only part of a call that need not be on record: who gets none asks again.
//
// # What is promised
//
//   - Nobody who answers waits. What a client's connection has no room for, and
//     what was taken and may not have arrived, is handed back, to be sent another
//     way. So a letter may arrive twice.
//   - A letter arrives whole, or not at all: after a write that has failed nothing
//     more is written to that connection.
//   - A side that is dead or unreachable is noticed within 4 s, one whose process
//     has ended at once. Until then letters to it are lost: who waits asks again.
//   - Both sides know that the other has the token, before the first frame. It
//     does not go over the connection. Without TLS whoever is between them can
//     read the answers, and change them.
//   - Connections that say nothing, too much or the wrong thing are closed, and
//     counted. Memory is bounded, for each connection and in their number.
//
// # Numbers
//
//	handshake, that of TLS included   5 s at most
//	signs of life                     every 1 s of either side
//	silence that ends a connection    4 s, also of one write
//	waits for one client              1 MiB
//	waits between attempts            50 ms, doubled to 2 s, with full jitter
//
// # Files
//
//	config.go     what both sides have in common
//	handshake.go  the token
//	frame.go      what goes over a connection
//	line.go       a connection, for both sides
//	server.go     the owner's side
//	client.go     the client's
//	failure.go    what goes wrong
package direct
