package deadline

import "net/textproto"

// Carrier is where a deadline travels: the headers of a request, or of a
// message. http.Header is one as it stands.
type Carrier interface {
	// Values returns all values under name, nil if there are none.
	Values(name string) []string
	// Set puts value in the place of all values under name.
	Set(name, value string)
}

// Header makes a [Carrier] of any map of MIME headers, Header(h), without
// allocating.
type Header = textproto.MIMEHeader
