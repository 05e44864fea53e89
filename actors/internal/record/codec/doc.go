// Package codec is the binary form of what the actor log is made of: messages
// of numbered fields, written and read by one and the same description.
//
// # Form
//
// A message is a sequence of fields in ascending order of their numbers. A
// field is a tag (number*2, +1 if it has a length), then either one unsigned
// varint or a length and that many bytes. Zero values are left out.
//
// There is exactly one encoding of a value: varints are minimal, fields are in
// order, zero values are absent, and [Decode] refuses everything else. So what
// is decoded encodes to the very same bytes, and equal values can be compared
// by their bytes.
//
// # One description for both ways
//
// A type that travels has one method, Fields, that names its fields in order:
//
//	func (p *point) Fields(w *codec.Walker) {
//		w.Keep(&p.kept)
//		w.Uint(1, &p.x)
//		w.Uint(2, &p.y)
//	}
//
// The [Walker] either appends what it is shown or fills it in. The two ways
// cannot drift apart.
//
// # Growth
//
// A type that calls Keep is open: fields that it does not know are kept, and
// written again in their place. A type that does not is closed: it refuses
// them, and can be compared and be the key of a map.
package codec
