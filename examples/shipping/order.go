package main

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay/actors"
)

var (
	// Create begins an order, and looks for voyages.
	Create = actors.Declare[Booking, Receipt](Order, "create")
	// NextVoyage tries the next voyage.
	NextVoyage = actors.Declare[Booking, Receipt](Order, "next")
	// Confirm ends a booking whose containers are aboard.
	Confirm = actors.Declare[Booking, Receipt](Order, "confirm")
	// Sail and Deliver tell what becomes of the ship.
	Sail    = actors.Declare[none, none](Order, "sail")
	Deliver = actors.Declare[none, none](Order, "deliver")
	// Status reads the order.
	Status = actors.DeclareQuery[none, Report](Order, "status")

	state = actors.NewValue[State](Order, "state")
	fault = actors.NewValue[string](Order, "fault")
)

// Report is an order as it is.
type Report struct {
	State State
	Fault string // that which must not happen
}

func hostOrders() actors.Hosting {
	return actors.Host(Order, patient,
		actors.HandleNext(Create, create),
		actors.HandleNext(NextVoyage, nextVoyage),
		actors.Handle(Confirm, confirm),
		actors.Handle(Sail, func(ctx context.Context, self actors.Self[order], _ none) (none, error) {
			return none{}, move(ctx, self, Booked, Sailing)
		}),
		actors.Handle(Deliver, func(ctx context.Context, self actors.Self[order], _ none) (none, error) {
			return none{}, move(ctx, self, Sailing, Delivered)
		}),
		actors.HandleShared(Status, func(ctx context.Context, view actors.View[order], _ none) (r Report, err error) {
			if r.State, err = state.Get(ctx, view); err != nil {
				return r, err
			}
			r.Fault, err = fault.Get(ctx, view)
			return r, err
		}),
	)
}

// create asks which voyages there are, and keeps the actor: nothing of the
// order runs between this and the next link.
func create(ctx context.Context, self actors.Self[order], b Booking) (next actors.Next[Receipt], err error) {
	if b.Others, err = Find.Call(ctx, theSchedule, Route{b.From, b.To}); err != nil {
		return next, err
	}
	return NextVoyage.Tail(self, b), state.Set(self, Placed)
}

// nextVoyage goes on at the next voyage; if there is none, the order is
// rejected.
func nextVoyage(ctx context.Context, self actors.Self[order], b Booking) (next actors.Next[Receipt], err error) {
	if len(b.Others) == 0 {
		return actors.Return(Receipt{State: Rejected}), move(ctx, self, Placed, Rejected)
	}
	b.Voyage, b.Others = b.Others[0], b.Others[1:]
	return Reserve.TailTo(b.Voyage, b), nil
}

func confirm(ctx context.Context, self actors.Self[order], b Booking) (Receipt, error) {
	return Receipt{State: Booked, Voyage: b.Voyage}, move(ctx, self, Placed, Booked)
}

// move takes the order from one state to the next, and lets the manager know,
// in one step.
func move(ctx context.Context, self actors.Self[order], from, to State) error {
	is, err := state.Get(ctx, self)
	if err != nil {
		return err
	}
	if is != from {
		if err := fault.Set(self, fmt.Sprintf("it was %s when it should become %s", is, to)); err != nil {
			return err
		}
	}
	if err := state.Set(self, to); err != nil {
		return err
	}
	return Note.Tell(ctx, theManager, to)
}
