package codec

import "fmt"

// Error says where an encoding is wrong, and what is wrong there.
type Error struct {
	// Offset counts the bytes from the start of what was decoded.
	Offset int
	// Field is the number of the field, within its message.
	Field uint64
	// Reason completes "field 3 ...".
	Reason string
}

// Error reads, for example, "offset 12: field 3 is out of order".
func (e *Error) Error() string {
	return fmt.Sprintf("offset %d: field %d %s", e.Offset, e.Field, e.Reason)
}

// Fail makes the walk end with an error about field n, for types that know
// more about their values than their form. It does nothing while writing.
func (w *Walker) Fail(n uint64, reason string) { w.fail(n, reason) }

// fail notes the first fault.
func (w *Walker) fail(n uint64, reason string) {
	if w.reading && w.err == nil {
		w.err, w.next = &Error{Offset: w.at, Field: n, Reason: reason}, none
	}
}
