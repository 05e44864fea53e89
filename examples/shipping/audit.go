package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors"
)

// auditor looks whether the world is as it must be, while it moves. It cannot
// stop it, so it reads effects before their causes: a depot may have received
// only what ships had landed by the time they are looked at afterwards.
type auditor struct {
	placed func() int // how many orders there are; more may come
	orders int        // how many there were when it looked
	// What will not change any more need not be looked at again.
	ended map[int]State
	home  map[actors.Ref[voyage]]Logbook
}

func newAuditor(placed func() int) *auditor {
	return &auditor{placed: placed, ended: make(map[int]State), home: make(map[actors.Ref[voyage]]Logbook)}
}

// settle waits until the last ship has arrived, and looks at everything once
// more.
func (a *auditor) settle(ctx context.Context) (found audited, err error) {
	if _, err := End.Call(ctx, theSchedule, none{}); err != nil {
		return found, err
	}
	for began := time.Now(); ; time.Sleep(day) {
		if found, err = a.line(ctx); err != nil {
			return found, err
		}
		if err = found.fault; err == nil {
			found, err = newAuditor(a.placed).line(ctx)
			return found, errors.Join(err, found.fault)
		}
		if time.Since(began) > 500*day {
			return found, fmt.Errorf("after 500 days: %w", err)
		}
	}
}

// line looks whether all is settled.
func (a *auditor) line(ctx context.Context) (found audited, err error) {
	if found, err = a.look(ctx); err != nil {
		return found, err
	}
	noted, err := Counts.Call(ctx, theManager, none{})
	if err != nil {
		return found, err
	}
	found.fault = found.settled(noted, a.orders)
	return found, nil
}

// audited is what it has counted.
type audited struct {
	states   map[State]int
	stock    int
	voyages  int
	underWay int   // voyages that have not arrived
	fault    error // why this is not settled
}

// watch audits until ctx ends, or something is wrong.
func (a *auditor) watch(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(day):
		}
		if _, err := a.look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// look audits once.
func (a *auditor) look(ctx context.Context) (found audited, err error) {
	noted, err := Counts.Call(ctx, theManager, none{})
	if err != nil {
		return found, err
	}
	a.orders = a.placed()
	if found.states, err = a.lookAtOrders(ctx); err != nil {
		return found, err
	}
	reached := ever(found.states)
	for s, n := range noted {
		if n > reached[s] {
			return found, fmt.Errorf("the manager has counted %d orders that were %s, and there are %d", n, s, reached[s])
		}
	}
	return found, a.lookAtContainers(ctx, &found)
}

// ever is how many have come to a state, by how many are in each.
func ever(in map[State]int) map[State]int {
	sailed := in[Sailing] + in[Delivered]
	booked := in[Booked] + sailed
	return map[State]int{
		Placed: in[Placed] + in[Rejected] + booked, Rejected: in[Rejected], Booked: booked, Sailing: sailed, Delivered: in[Delivered],
	}
}

func (a *auditor) lookAtOrders(ctx context.Context) (map[State]int, error) {
	states := make(map[State]int)
	for i := range a.orders {
		s, ok := a.ended[i]
		if !ok {
			r, err := Status.Call(ctx, orderAt(i), none{})
			if err != nil {
				return nil, err
			}
			if r.Fault != "" {
				return nil, fmt.Errorf("%v: %s", orderAt(i), r.Fault)
			}
			s = cmp.Or(r.State, Placed) // perhaps: its manager has it before it has itself
		}
		if states[s]++; s == Rejected || s == Delivered {
			a.ended[i] = s
		}
	}
	return states, nil
}

// lookAtContainers compares what depots have received with what ships have
// landed, and what ships have loaded with what depots have given out.
func (a *auditor) lookAtContainers(ctx context.Context, found *audited) error {
	before, err := lookAtDepots(ctx)
	if err != nil {
		return err
	}
	loaded, landed, err := a.lookAtVoyages(ctx, found)
	if err != nil {
		return err
	}
	after, err := lookAtDepots(ctx)
	if err != nil {
		return err
	}
	found.stock = after.Stock
	switch {
	case before.Received > landed:
		return fmt.Errorf("depots have received %d containers, and ships have landed %d", before.Received, landed)
	case loaded > after.Taken:
		return fmt.Errorf("ships have loaded %d containers, and depots have given out %d", loaded, after.Taken)
	}
	return nil
}

func lookAtDepots(ctx context.Context) (sum Ledger, err error) {
	for _, p := range ports {
		l, err := Books.Call(ctx, Depot.Ref(p), none{})
		if err != nil {
			return sum, err
		}
		if l.Stock < 0 || l.Stock != l.Filled-l.Taken+l.TakenBack+l.Received {
			return sum, fmt.Errorf("the books of %s are wrong: %+v", p, l)
		}
		sum.Stock, sum.Taken, sum.Received = sum.Stock+l.Stock, sum.Taken+l.Taken, sum.Received+l.Received
	}
	return sum, nil
}

func (a *auditor) lookAtVoyages(ctx context.Context, found *audited) (loaded, landed int, err error) {
	all, err := allVoyages(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, v := range all {
		l, ok := a.home[v]
		if !ok {
			if l, err = Log.Call(ctx, v, none{}); err != nil {
				return 0, 0, err
			}
		}
		if err := l.check(); err != nil {
			return 0, 0, fmt.Errorf("%v: %w", v, err)
		}
		found.voyages++
		if l.Arrived.IsZero() {
			found.underWay++
		} else {
			a.home[v] = l
		}
		loaded, landed = loaded+l.Loaded, landed+l.Landed
	}
	return loaded, landed, nil
}

// allVoyages asks for a page at a time: answers are bounded.
func allVoyages(ctx context.Context) (all []actors.Ref[voyage], err error) {
	for last := ""; ; last = all[len(all)-1].ID {
		more, err := Voyages.Call(ctx, theSchedule, last)
		if err != nil || len(more) == 0 {
			return all, err
		}
		all = append(all, more...)
	}
}

// check looks whether a ship can have done what its log says.
func (l *Logbook) check() error {
	switch {
	case l.Free < 0 || l.Held < 0 || l.Free+l.Held+l.Loaded != l.Leg.Capacity:
		return fmt.Errorf("the room does not add up: %+v", l)
	case !l.Departed.IsZero() && l.Departed.Before(l.Leg.Departs):
		return fmt.Errorf("it left at %v, before its time %v", l.Departed, l.Leg.Departs)
	case !l.Arrived.IsZero() && (l.Departed.IsZero() || l.Arrived.Sub(l.Departed) < time.Duration(l.Leg.Days)*day-time.Millisecond):
		return fmt.Errorf("it arrived at %v, having left at %v", l.Arrived, l.Departed)
	case !l.Arrived.IsZero() && l.Landed != l.Loaded:
		return fmt.Errorf("it loaded %d containers, and landed %d", l.Loaded, l.Landed)
	}
	return nil
}

// settled is nil once everything is where it belongs: then all must be equal
// that was only bounded while things moved.
func (f *audited) settled(noted map[State]int, orders int) error {
	var faults []error
	if f.states[Rejected]+f.states[Delivered] != orders {
		faults = append(faults, fmt.Errorf("of %d orders these are not settled: %v", orders, f.states))
	}
	for s, n := range ever(f.states) {
		if noted[s] != n {
			faults = append(faults, fmt.Errorf("the manager has counted %d orders that were %s, and there are %d", noted[s], s, n))
		}
	}
	if f.underWay > 0 {
		faults = append(faults, fmt.Errorf("%d of %d ships have not arrived", f.underWay, f.voyages))
	}
	if all := stockOfPort * len(ports); f.stock != all {
		faults = append(faults, fmt.Errorf("there are %d containers, of %d", f.stock, all))
	}
	return errors.Join(faults...)
}
