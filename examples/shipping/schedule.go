package main

import (
	"context"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors"
)

// Route is from where to where.
type Route struct{ From, To string }

var (
	// Begin starts the calendar, unless it runs.
	Begin = actors.Declare[none, none](Schedule, "begin")
	// End announces no further voyages.
	End = actors.Declare[none, none](Schedule, "end")
	// Departed takes a voyage out of those that can be booked.
	Departed = actors.Declare[string, none](Schedule, "departed")
	// Find lists the voyages that can be booked, the earliest first.
	Find = actors.DeclareQuery[Route, []actors.Ref[voyage]](Schedule, "find")
	// Voyages lists all there ever were, those after an id, a page of them.
	Voyages = actors.DeclareQuery[string, []actors.Ref[voyage]](Schedule, "voyages")

	dawn    = actors.Declare[none, none](Schedule, "dawn")
	date    = actors.NewValue[int](Schedule, "date")
	planned = actors.NewMap[string, Leg](Schedule, "planned")
	open    = actors.NewMap[string, Route](Schedule, "open")
)

func hostSchedule() actors.Hosting {
	return actors.Host(Schedule, patient,
		actors.Handle(Begin, begin),
		actors.Handle(End, func(_ context.Context, self actors.Self[schedule], _ none) (none, error) {
			return none{}, dawn.Forget(self, "dawn")
		}),
		actors.Handle(dawn, newDay),
		actors.Handle(Departed, func(_ context.Context, self actors.Self[schedule], id string) (none, error) {
			return none{}, open.Remove(self, id)
		}),
		actors.HandleShared(Find, find),
		actors.HandleShared(Voyages, voyages),
	)
}

func begin(ctx context.Context, self actors.Self[schedule], _ none) (none, error) {
	if _, runs, err := date.Lookup(ctx, self); runs || err != nil {
		return none{}, err
	}
	for d := range ahead {
		if err := announce(ctx, self, d, d+1); err != nil {
			return none{}, err
		}
	}
	if err := date.Set(self, ahead); err != nil {
		return none{}, err
	}
	return none{}, dawn.Remind(self, "dawn", actors.Every(day), none{})
}

// newDay turns the page. Days that nobody was awake for count, too; on them no
// ship leaves.
func newDay(ctx context.Context, self actors.Self[schedule], _ none) (none, error) {
	today, err := date.Get(ctx, self)
	if err != nil {
		return none{}, err
	}
	today += self.Missed()
	if err := date.Set(self, today+1); err != nil {
		return none{}, err
	}
	return none{}, announce(ctx, self, today, ahead)
}

// announce plans a voyage for every route, that leaves in so many days.
func announce(ctx context.Context, self actors.Self[schedule], date, days int) error {
	leaves := time.Now().Add(time.Duration(days) * day)
	for _, from := range ports {
		for _, to := range ports {
			if from == to {
				continue
			}
			id := fmt.Sprintf("%05d %s-%s", date, from, to)
			leg := Leg{From: from, To: to, Departs: leaves, Days: atSea, Capacity: capacity}
			if err := planned.Set(self, id, leg); err != nil {
				return err
			}
			if err := open.Set(self, id, Route{from, to}); err != nil {
				return err
			}
			if err := Plan.Tell(ctx, Voyage.Ref(id), leg); err != nil {
				return err
			}
		}
	}
	return nil
}

func find(ctx context.Context, view actors.View[schedule], r Route) (all []actors.Ref[voyage], err error) {
	for v, err := range open.All(ctx, view) {
		if err != nil {
			return nil, err
		}
		if v.Value == r {
			all = append(all, Voyage.Ref(v.Key))
		}
	}
	return all, nil
}

func voyages(ctx context.Context, view actors.View[schedule], after string) (all []actors.Ref[voyage], err error) {
	const page = 400
	for v, err := range planned.All(ctx, view) {
		if err != nil {
			return nil, err
		}
		if v.Key > after && len(all) < page {
			all = append(all, Voyage.Ref(v.Key))
		}
	}
	return all, nil
}
