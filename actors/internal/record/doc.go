// Package record is what the log of a partition is made of.
//
// A partition of actors is a replicated state machine whose only input is its
// log. This package says what stands in that log and how it is written;
// package machine says what it means.
//
// # The envelope
//
//	version  1 byte, now 1
//	kind     1 byte
//	length   of the header, varint
//	header   fields: epoch, ids, numbers, deadlines, target
//	payload  fields: method, arguments, results, state
//
// [Peek] reads the header alone, so that a mailbox can be scanned for what has
// expired without decoding what was said. Headers of all kinds share one
// numbering (see [Header]).
//
// The form of fields is that of package codec: there is exactly one encoding
// of a record, [Decode] refuses every other, and fields that are unknown here
// are kept and written again. A kind or a version that is unknown is an error
// of its own ([ErrUnknown]): whoever skipped such a record would go on with a
// state that differs from that of others.
//
// There is one description of each record for both ways. A [Decoder] reads the
// usual requests and steps without it, by hand, and nothing that [Decode] would
// read otherwise.
//
// # Kinds
//
//	from clients      ClientRequest, Read
//	from partitions   Mail of a Request, a Response or nothing (Empty); Cancel
//	from the owner    Takeover, Issued, Write, Begun, Failed, Step, Expired,
//	                  Forwarded, Undeliverable, Fire, Ingest
//	to plain topics   Mail of a Letter
//
// Times are milliseconds since 1970 of the broker's clock. Decoded byte slices
// alias the input.
package record
