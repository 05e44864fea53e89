package main

import (
	"context"

	"github.com/backstay-go/backstay/actors"
)

// pulse stands for the actors that are felt all the time, one a partition: they
// tell since when nobody answers, and whether a beat is lost or counted twice.
type pulse struct{}

var (
	Pulse = actors.NewType[pulse]("pulse")
	// Beat adds one, and returns how many there were.
	Beat = actors.Declare[none, int](Pulse, "beat")

	beats = actors.NewValue[int](Pulse, "beats")
)

func hostPulses() actors.Hosting {
	return actors.Host(Pulse, patient, actors.Handle(Beat, beat))
}

func beat(ctx context.Context, self actors.Self[pulse], _ none) (int, error) {
	n, err := beats.Get(ctx, self)
	if err != nil {
		return 0, err
	}
	return n + 1, beats.Set(self, n+1)
}
