package journal

import "fmt"

// Partition is one log: that of a share of the actors of a type.
type Partition struct {
	Type  string
	Index uint32
}

// String reads, for example, "account/3".
func (p Partition) String() string { return fmt.Sprintf("%s/%d", p.Type, p.Index) }
