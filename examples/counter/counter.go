package main

import (
	"context"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

// counter stands for the type of actors.
type counter struct{}

// What callers need: the type, and its methods.
var (
	Counter = actors.NewType[counter]("counter")

	// Own counts in the actor's own value.
	Own = actors.Declare[int, int](Counter, "own")
	// Chained counts in a file, and writes it in a tail call.
	Chained = actors.Declare[int, int](Counter, "chained")
	// Naive counts in a file, in one go.
	Naive = actors.Declare[int, int](Counter, "naive")

	// Total reads what Own has counted.
	Total = actors.DeclareQuery[struct{}, int](Counter, "total")
)

// What only the host needs.
var (
	total = actors.NewValue[int](Counter, "total")
	set   = actors.Declare[int, int](Counter, "set")
)

// patient are the settings of all actors here: a kill counts as an attempt, and
// there are more of them in a second than elsewhere in a year.
var patient = actors.Settings{Retry: retry.Config{MaxAttempts: 100}}

// host gives the methods what they do. outside is a store that knows nothing
// of actors.
func host(outside store) actors.Hosting {
	return actors.Host(Counter, patient,
		actors.Handle(Own, own),
		actors.HandleShared(Total, readTotal),
		actors.HandleNext(Chained, func(_ context.Context, self actors.Self[counter], n int) (actors.Next[int], error) {
			sum, err := outside.get(self.ID())
			return set.Tail(self, sum+n), err
		}),
		actors.Handle(set, func(_ context.Context, self actors.Self[counter], sum int) (int, error) {
			return sum, outside.set(self.ID(), sum) // as often as it likes: the sum stays the same
		}),
		actors.Handle(Naive, func(_ context.Context, self actors.Self[counter], n int) (int, error) {
			sum, err := outside.get(self.ID())
			if err != nil {
				return 0, err
			}
			return sum + n, outside.set(self.ID(), sum+n) // and if it dies here, the retry adds once more
		}),
	)
}

// own needs no tail call: what it writes is part of its step, and a step that
// was recorded never runs again.
func own(ctx context.Context, self actors.Self[counter], n int) (int, error) {
	sum, err := total.Get(ctx, self)
	if err != nil {
		return 0, err
	}
	time.Sleep(pause) // time to die in
	return sum + n, total.Set(self, sum+n)
}

func readTotal(ctx context.Context, view actors.View[counter], _ struct{}) (int, error) {
	return total.Get(ctx, view)
}
