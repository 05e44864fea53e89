package actors

import (
	"fmt"
	"strings"
)

// Type is a type of actors. A is a Go type that stands for it, so that a
// method, a value or a reference of another type does not compile; it need not
// have fields, and is never instantiated here:
//
//	type account struct{}
//
//	var Account = actors.NewType[account]("account")
//
// Make it with [NewType], once, in a package that hosts and callers share.
type Type[A any] struct{ name string }

// NewType names a type of actors. The name is part of every address and log,
// for ever. It panics if name is not 1 to 100 characters of a-z, 0-9, - and _:
// names are written in programs, not computed.
func NewType[A any](name string) Type[A] {
	if err := checkName(name); err != nil {
		panic("actors: NewType: " + err.Error())
	}
	return Type[A]{name: name}
}

// Name returns the name.
func (t Type[A]) Name() string { return t.name }

// Ref is the address of the actor with that id. The actor need not exist: it
// comes to be when it is first called. Every id will do but the empty one, and
// those of deferred replies, "deferred." and a UUID of version 8: what calls
// them is an error.
func (t Type[A]) Ref(id string) Ref[A] { return Ref[A]{Type: t.name, ID: id} }

// checkName refuses what cannot be part of the name of a topic.
func checkName(name string) error {
	if name == "" || len(name) > 100 {
		return fmt.Errorf("the name %q must have 1 to 100 characters", name)
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return fmt.Errorf("the name %q may have the characters a-z, 0-9, - and _ only", name)
	}
	return nil
}
