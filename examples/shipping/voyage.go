package main

import (
	"context"
	"time"

	"github.com/backstay-go/backstay/actors"
)

var (
	// Plan makes a voyage.
	Plan = actors.Declare[Leg, none](Voyage, "plan")
	// Reserve keeps room for an order, and sends for its containers.
	Reserve = actors.Declare[Booking, Receipt](Voyage, "reserve")
	// Load takes the containers aboard.
	Load = actors.Declare[Booking, Receipt](Voyage, "load")
	// Release gives the room back, since there are no containers.
	Release = actors.Declare[Booking, Receipt](Voyage, "release")
	// Log reads the ship's log.
	Log = actors.DeclareQuery[none, Logbook](Voyage, "log")

	depart = actors.Declare[none, none](Voyage, "depart")
	arrive = actors.Declare[none, none](Voyage, "arrive")

	logbook = actors.NewValue[Logbook](Voyage, "logbook")
	aboard  = actors.NewMap[string, int](Voyage, "aboard") // containers, by order
)

// Logbook is a voyage as it is.
type Logbook struct {
	Leg               Leg
	Free, Held        int       // room for containers; Held waits for some
	Loaded, Landed    int       // containers, ever
	Departed, Arrived time.Time // zero: not yet
}

func hostVoyages() actors.Hosting {
	return actors.Host(Voyage, patient,
		actors.Handle(Plan, plan),
		actors.HandleNext(Reserve, reserve), actors.HandleNext(Load, load), actors.HandleNext(Release, release),
		actors.Handle(depart, leave), actors.Handle(arrive, land),
		actors.HandleShared(Log, func(ctx context.Context, view actors.View[voyage], _ none) (Logbook, error) {
			return logbook.Get(ctx, view)
		}),
	)
}

func plan(_ context.Context, self actors.Self[voyage], l Leg) (none, error) {
	if err := depart.Remind(self, "depart", actors.At(l.Departs), none{}); err != nil {
		return none{}, err
	}
	return none{}, logbook.Set(self, Logbook{Leg: l, Free: l.Capacity})
}

// reserve sends the order on to another voyage if this one has left or is full.
func reserve(ctx context.Context, self actors.Self[voyage], b Booking) (next actors.Next[Receipt], err error) {
	l, err := logbook.Get(ctx, self)
	switch {
	case err != nil:
		return next, err
	case l.Free < b.Containers || !l.Departed.IsZero():
		return NextVoyage.TailTo(b.Order, b), nil
	}
	l.Free, l.Held = l.Free-b.Containers, l.Held+b.Containers
	return Take.TailTo(Depot.Ref(b.From), b), logbook.Set(self, l)
}

// load takes the containers, unless the ship has left without them.
func load(ctx context.Context, self actors.Self[voyage], b Booking) (next actors.Next[Receipt], err error) {
	l, err := logbook.Get(ctx, self)
	if err != nil {
		return next, err
	}
	l.Held -= b.Containers
	if !l.Departed.IsZero() {
		l.Free += b.Containers
		return TakeBack.TailTo(Depot.Ref(b.From), b), logbook.Set(self, l)
	}
	l.Loaded += b.Containers
	if err := aboard.Set(self, b.Order.ID, b.Containers); err != nil {
		return next, err
	}
	return Confirm.TailTo(b.Order, b), logbook.Set(self, l)
}

func release(ctx context.Context, self actors.Self[voyage], b Booking) (next actors.Next[Receipt], err error) {
	l, err := logbook.Get(ctx, self)
	if err != nil {
		return next, err
	}
	l.Free, l.Held = l.Free+b.Containers, l.Held-b.Containers
	return NextVoyage.TailTo(b.Order, b), logbook.Set(self, l)
}

// leave is rung by the calendar.
func leave(ctx context.Context, self actors.Self[voyage], _ none) (none, error) {
	l, err := logbook.Get(ctx, self)
	if err != nil {
		return none{}, err
	}
	l.Departed = time.Now()
	for o, err := range aboard.All(ctx, self) {
		if err != nil {
			return none{}, err
		}
		if err := Sail.Tell(ctx, Order.Ref(o.Key), none{}); err != nil {
			return none{}, err
		}
	}
	if err := Departed.Tell(ctx, theSchedule, self.ID()); err != nil {
		return none{}, err
	}
	arrives := actors.At(l.Departed.Add(time.Duration(l.Leg.Days) * day)) // not After: processes know the log's time give or take some ms
	if err := arrive.Remind(self, "arrive", arrives, none{}); err != nil {
		return none{}, err
	}
	return none{}, logbook.Set(self, l)
}

// land is, too. The containers leave the ship and are on their way to the depot
// in one step.
func land(ctx context.Context, self actors.Self[voyage], _ none) (none, error) {
	l, err := logbook.Get(ctx, self)
	if err != nil {
		return none{}, err
	}
	l.Arrived = time.Now()
	for o, err := range aboard.All(ctx, self) {
		if err != nil {
			return none{}, err
		}
		l.Landed += o.Value
		if err := aboard.Remove(self, o.Key); err != nil {
			return none{}, err
		}
		if err := Deliver.Tell(ctx, Order.Ref(o.Key), none{}); err != nil {
			return none{}, err
		}
	}
	if l.Landed > 0 {
		if err := Receive.Tell(ctx, Depot.Ref(l.Leg.To), l.Landed); err != nil {
			return none{}, err
		}
	}
	return none{}, logbook.Set(self, l)
}
