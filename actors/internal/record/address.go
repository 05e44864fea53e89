package record

import (
	"fmt"

	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// Partition is one of the partitions of a type. All partitions of all types
// form one name space.
type Partition struct {
	Type  string
	Index uint32
}

// String reads, for example, "account/3".
func (p Partition) String() string { return fmt.Sprintf("%s/%d", p.Type, p.Index) }

// Fields describes p; it is closed.
func (p *Partition) Fields(w *codec.Walker) {
	w.String(1, &p.Type)
	w.Uint32(2, &p.Index)
}

// Address is an actor, with the partition that it lives in: the number of
// partitions of a type is fixed for ever, so who knows the type can tell.
type Address struct {
	Type  string
	Actor string
	Index uint32
}

// To is the address of an actor of a type that has n partitions.
func To(typ, actor string, n uint32) Address {
	return Address{Type: typ, Actor: actor, Index: PartitionOf(actor, n)}
}

// Partition is where the actor lives.
func (a Address) Partition() Partition { return Partition{Type: a.Type, Index: a.Index} }

// Fields describes a; it is closed.
func (a *Address) Fields(w *codec.Walker) {
	w.Borrowed(1, &a.Type)
	w.String(2, &a.Actor)
	w.Uint32(3, &a.Index)
}

// Dest is where an output goes: to a partition, or, if Topic is set, to an
// ordinary topic.
type Dest struct {
	Partition Partition
	Topic     string
}

// Fields describes d; it is closed.
func (d *Dest) Fields(w *codec.Walker) {
	w.Message(1, &d.Partition)
	w.String(2, &d.Topic)
}

// String reads, for example, "account/3" or "topic bank.dead".
func (d Dest) String() string {
	if d.Topic != "" {
		return "topic " + d.Topic
	}
	return d.Partition.String()
}

// Link names one link of a chain of tail calls. Life is the until with which a
// client's request was accepted, 0 for all others: after its window an id may
// live again, and a copy of a record of its first life must not hit the second
// (R25).
type Link struct {
	ID   ID
	Life int64
	Seq  uint64
}

// Fields describes l; it is closed.
func (l *Link) Fields(w *codec.Walker) {
	w.Fixed(1, (*[16]byte)(&l.ID))
	w.Int(2, &l.Life)
	w.Uint(3, &l.Seq)
}

// String reads id.seq.
func (l Link) String() string { return fmt.Sprintf("%v.%d", l.ID, l.Seq) }
