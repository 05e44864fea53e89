package main

import (
	"context"

	"github.com/backstay-go/backstay/actors"
)

var (
	// Fill gives a depot its first containers, once.
	Fill = actors.Declare[int, none](Depot, "fill")
	// Take hands containers to a voyage.
	Take = actors.Declare[Booking, Receipt](Depot, "take")
	// TakeBack takes those that missed their ship.
	TakeBack = actors.Declare[Booking, Receipt](Depot, "take-back")
	// Receive takes those that a ship has brought.
	Receive = actors.Declare[int, none](Depot, "receive")
	// Books reads the depot's books.
	Books = actors.DeclareQuery[none, Ledger](Depot, "books")

	ledger = actors.NewValue[Ledger](Depot, "ledger")
)

// Ledger counts containers: Stock is what is there, the others are sums.
type Ledger struct{ Stock, Filled, Taken, TakenBack, Received int }

func hostDepots() actors.Hosting {
	return actors.Host(Depot, patient,
		actors.Handle(Fill, fill),
		actors.HandleNext(Take, take), actors.HandleNext(TakeBack, takeBack),
		actors.Handle(Receive, receive),
		actors.HandleShared(Books, func(ctx context.Context, view actors.View[depot], _ none) (Ledger, error) {
			return ledger.Get(ctx, view)
		}),
	)
}

func fill(ctx context.Context, self actors.Self[depot], n int) (none, error) {
	l, filled, err := ledger.Lookup(ctx, self)
	if err != nil || filled {
		return none{}, err
	}
	l.Stock, l.Filled = n, n
	return none{}, ledger.Set(self, l)
}

func take(ctx context.Context, self actors.Self[depot], b Booking) (next actors.Next[Receipt], err error) {
	l, err := ledger.Get(ctx, self)
	switch {
	case err != nil:
		return next, err
	case l.Stock < b.Containers:
		return Release.TailTo(b.Voyage, b), nil
	}
	l.Stock, l.Taken = l.Stock-b.Containers, l.Taken+b.Containers
	return Load.TailTo(b.Voyage, b), ledger.Set(self, l)
}

func takeBack(ctx context.Context, self actors.Self[depot], b Booking) (next actors.Next[Receipt], err error) {
	l, err := ledger.Get(ctx, self)
	if err != nil {
		return next, err
	}
	l.Stock, l.TakenBack = l.Stock+b.Containers, l.TakenBack+b.Containers
	return NextVoyage.TailTo(b.Order, b), ledger.Set(self, l)
}

func receive(ctx context.Context, self actors.Self[depot], n int) (none, error) {
	l, err := ledger.Get(ctx, self)
	if err != nil {
		return none{}, err
	}
	l.Stock, l.Received = l.Stock+n, l.Received+n
	return none{}, ledger.Set(self, l)
}
