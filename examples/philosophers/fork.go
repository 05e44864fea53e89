package main

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay/actors"
)

// fork stands for the type of actors.
type fork struct{}

var (
	Fork = actors.NewType[fork]("fork")

	// Ask asks for the fork; it is given as soon as it is there.
	Ask = actors.Declare[actors.Ref[philosopher], struct{}](Fork, "ask")
	// Put lays it down.
	Put = actors.Declare[actors.Ref[philosopher], struct{}](Fork, "put")

	hand    = actors.NewValue[actors.Ref[philosopher]](Fork, "hand")      // that has it
	waiting = actors.NewValue[[]actors.Ref[philosopher]](Fork, "waiting") // in this order
)

func hostForks() actors.Hosting {
	return actors.Host(Fork, patient, actors.Handle(Ask, ask), actors.Handle(Put, put))
}

// ask gives the fork, or notes who waits for it.
func ask(ctx context.Context, self actors.Self[fork], who actors.Ref[philosopher]) (none struct{}, err error) {
	has, err := hand.Get(ctx, self)
	if err != nil {
		return none, err
	}
	if has.IsZero() {
		return none, give(ctx, self, who)
	}
	queue, err := waiting.Get(ctx, self)
	if err != nil {
		return none, err
	}
	return none, waiting.Set(self, append(queue, who))
}

// put gives it to the next, in the same step.
func put(ctx context.Context, self actors.Self[fork], who actors.Ref[philosopher]) (none struct{}, err error) {
	has, err := hand.Get(ctx, self)
	if err != nil {
		return none, err
	}
	if has != who {
		return none, fmt.Errorf("%v lays down %v, which %v has", who, self.Ref(), has)
	}
	queue, err := waiting.Get(ctx, self)
	switch {
	case err != nil:
		return none, err
	case len(queue) == 0:
		return none, hand.Remove(self)
	}
	if err := waiting.Set(self, queue[1:]); err != nil {
		return none, err
	}
	return none, give(ctx, self, queue[0])
}

func give(ctx context.Context, self actors.Self[fork], who actors.Ref[philosopher]) error {
	if err := hand.Set(self, who); err != nil {
		return err
	}
	return Given.Tell(ctx, who, self.Ref())
}
