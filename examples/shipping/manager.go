package main

import (
	"context"

	"github.com/backstay-go/backstay/actors"
)

var (
	// Book takes an order.
	Book = actors.Declare[Booking, Receipt](Manager, "book")
	// Note counts an order that has come to a state.
	Note = actors.Declare[State, none](Manager, "note")
	// Counts are how many orders have ever been in each state.
	Counts = actors.DeclareQuery[none, map[State]int](Manager, "counts")

	counts = actors.NewMap[State, int](Manager, "counts")
)

func hostManager() actors.Hosting {
	return actors.Host(Manager, patient,
		actors.HandleNext(Book, book), actors.Handle(Note, countOne), actors.HandleShared(Counts, readCounts))
}

// book counts the order, and hands its caller to it: the manager is free for
// the next one at once.
func book(ctx context.Context, self actors.Self[manager], b Booking) (next actors.Next[Receipt], err error) {
	return Create.TailTo(b.Order, b), count(ctx, self, Placed)
}

func countOne(ctx context.Context, self actors.Self[manager], s State) (none, error) {
	return none{}, count(ctx, self, s)
}

func count(ctx context.Context, self actors.Self[manager], s State) error {
	n, _, err := counts.Get(ctx, self, s)
	if err != nil {
		return err
	}
	return counts.Set(self, s, n+1)
}

func readCounts(ctx context.Context, view actors.View[manager], _ none) (map[State]int, error) {
	all := make(map[State]int)
	for entry, err := range counts.All(ctx, view) {
		if err != nil {
			return nil, err
		}
		all[entry.Key] = entry.Value
	}
	return all, nil
}
