package actors

// Ref is the address of an actor. It is plain data: it can be compared, used
// as the key of a map, stored in a [Value], and sent in arguments and results
// with every codec. Its type says which methods can be called on it.
type Ref[A any] struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// String reads, for example, "account/alice".
func (r Ref[A]) String() string { return r.Type + "/" + r.ID }

// IsZero reports whether r is no address.
func (r Ref[A]) IsZero() bool { return r == Ref[A]{} }
