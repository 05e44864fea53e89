package main

import (
	"context"
	"errors"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

// order stands for the type of actors.
type order struct{}

// What callers need.
var (
	Order = actors.NewType[order]("order")

	// Place places an order, and returns what has become of it in the end.
	Place = actors.Declare[Purchase, Receipt](Order, "place")

	// ErrNothing: there is nothing to be paid.
	ErrNothing = actors.RegisterError("order.nothing", errors.New("there is nothing to be paid"))
)

// Purchase is what a customer wants.
type Purchase struct {
	Customer string `json:"customer"`
	Card     string `json:"card"`
	Cents    int    `json:"cents"`
}

// Receipt says what has become of it.
type Receipt struct {
	Order    string   `json:"order,omitempty"`
	Purchase Purchase `json:"purchase,omitzero"`
	Status   Status   `json:"status"`
	Charge   string   `json:"charge,omitempty"` // the card service's name for it
}

// Status is how an order ends.
type Status string

// The ends of an order. The last one is that of an order which nobody has begun.
const (
	Shipped Status = "shipped"
	Refused Status = "refused"
	Expired Status = "expired"
)

// What only the host needs.
var (
	receipt = actors.NewValue[Receipt](Order, "receipt")

	charge = actors.Declare[Receipt, Receipt](Order, "charge")
	ship   = actors.Declare[Receipt, Receipt](Order, "ship")
	refuse = actors.Declare[Receipt, Receipt](Order, "refuse")
)

// stepTime is what a link of the chain has once the customer's time does not
// count any more.
const stepTime = time.Second

func host(cards *cards) actors.Hosting {
	// A card service that is down for a minute is no reason to give up an order.
	settings := actors.Settings{
		StepTimeout: stepTime,
		Retry:       retry.Config{MaxAttempts: 50, Cap: 2 * time.Second},
	}
	return actors.Host(Order, settings,
		actors.HandleNext(Place, cards.place),
		actors.HandleNext(charge, cards.charge),
		actors.Handle(ship, finish(Shipped)),
		actors.Handle(refuse, finish(Refused)),
	)
}

// place accepts an order. The customer's deadline bounds its beginning, and the
// context of its first attempt. Once it has begun the order is worked on to its
// end, whoever waits.
func (c *cards) place(ctx context.Context, self actors.Self[order], p Purchase) (next actors.Next[Receipt], err error) {
	r, ended, err := receipt.Lookup(ctx, self)
	switch {
	case err != nil:
		return next, err
	case ended: // the key came back when its answer was no longer kept
		return actors.Return(r), nil
	case p.Cents <= 0:
		return next, ErrNothing
	}
	r = Receipt{Order: self.ID(), Purchase: p}
	known, err := c.knows(ctx, p.Card)
	switch {
	case err != nil:
		return next, err
	case !known:
		return refuse.Tail(self, r), nil
	}
	return charge.Tail(self, r), nil
}

// finish writes down how the order has ended, and answers the customer.
func finish(s Status) func(context.Context, actors.Self[order], Receipt) (Receipt, error) {
	return func(_ context.Context, self actors.Self[order], r Receipt) (Receipt, error) {
		r.Status = s
		return r, receipt.Set(self, r)
	}
}
