package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/examples/internal/drill"
)

// driver is the client of actors that other processes host: it places orders,
// feels the pulses, and audits, until all orders are placed.
type driver struct {
	*settings
	tell   *slog.Logger
	placed atomic.Int64 // or about to be
	told   atomic.Int64 // of those the client was told that they were rejected
	slow   atomic.Int64 // the longest that an actor has taken to answer
	faults atomic.Int64
}

func drive(ctx context.Context, s *settings, in io.Reader, out io.Writer) (err error) {
	c, err := s.cluster()
	if err != nil {
		return err
	}
	log, err := s.join(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	node, err := actors.Open(ctx, actors.Config{Name: "client"}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop(ctx)) }()
	ctx = node.Context(ctx)
	if err := equip(ctx); err != nil {
		return err
	}
	d := &driver{settings: s, tell: s.teller(out)}
	open := ctx // while orders are taken
	if s.drill {
		open = new(drill.Fuse).Attend(ctx, in)
	}
	d.work(ctx, open)
	return d.end(ctx)
}

// work returns when the orders that were placed are answered.
func (d *driver) work(ctx, open context.Context) {
	open, shut := context.WithCancel(open)
	var others, placing sync.WaitGroup
	for _, id := range d.pulses {
		for name, feel := range feelers() {
			others.Go(func() { d.feel(ctx, open, name, id, feel) })
		}
	}
	others.Go(func() { d.audit(ctx, open) })
	for range clients {
		placing.Go(func() { d.place(ctx, open) })
	}
	placing.Wait()
	shut()
	others.Wait()
}

// count is how many orders there are.
func (d *driver) count() int { return int(d.placed.Load()) }

// fault tells of something that must not be.
func (d *driver) fault(err error) {
	d.faults.Add(1)
	d.tell.Error("fault", "error", err.Error())
}

func (d *driver) place(ctx, open context.Context) {
	for ; open.Err() == nil; time.Sleep(d.pace) {
		i := int(d.placed.Add(1)) - 1
		if i >= d.orders {
			d.placed.Store(int64(d.orders))
			return
		}
		began := time.Now()
		b := bookingOf(i, d.seed)
		receipt, err := Book.Call(ctx, theManager, b, actors.IdempotencyKey(b.Order.ID))
		if err != nil {
			d.fault(fmt.Errorf("%v: %w", b.Order, err))
			continue
		}
		if receipt.State == Rejected {
			d.told.Add(1)
		}
		d.tell.Debug("order", "took", time.Since(began), "state", receipt.State)
	}
}

// feeler asks an actor for something.
type feeler func(ctx context.Context, id string) error

// feelers are those of all types, by name. That of the pulses counts.
func feelers() map[string]feeler {
	return map[string]feeler{
		Manager.Name():  asking(Manager, Counts, none{}),
		Order.Name():    asking(Order, Status, none{}),
		Schedule.Name(): asking(Schedule, Voyages, ""),
		Voyage.Name():   asking(Voyage, Log, none{}),
		Depot.Name():    asking(Depot, Books, none{}),
		Pulse.Name():    beating(),
	}
}

func asking[In, Out, A any](t actors.Type[A], q actors.Query[In, Out, A], in In) feeler {
	return func(ctx context.Context, id string) error {
		_, err := q.Call(ctx, t.Ref(id), in)
		return err
	}
}

// beating expects every beat to be the next one.
func beating() feeler {
	var last int
	return func(ctx context.Context, id string) error {
		n, err := Beat.Call(ctx, Pulse.Ref(id), none{})
		if err == nil && last != 0 && n != last+1 {
			err = fmt.Errorf("beat %d came after beat %d", n, last)
		}
		last = n
		return err
	}
}

func (d *driver) feel(ctx, open context.Context, name, id string, feel feeler) {
	for ; open.Err() == nil; time.Sleep(d.every) {
		began := time.Now()
		if err := feel(ctx, id); err != nil {
			d.fault(fmt.Errorf("%s/%s: %w", name, id, err))
		}
		took := time.Since(began)
		d.tell.Debug("felt", "type", name, "id", id, "took", took)
		for longest := d.slow.Load(); int64(took) > longest && !d.slow.CompareAndSwap(longest, int64(took)); {
			longest = d.slow.Load()
		}
	}
}

// audit looks at the world once a day.
func (d *driver) audit(ctx, open context.Context) {
	a := newAuditor(d.count)
	for open.Err() == nil {
		found, err := a.look(ctx)
		if err != nil {
			d.fault(err)
		}
		d.tell.Debug("audited", "orders", a.orders, "delivered", found.states[Delivered], "voyages", found.voyages, "under way", found.underWay)
		select {
		case <-open.Done():
		case <-time.After(day):
		}
	}
}

// end waits until everything is where it belongs.
func (d *driver) end(ctx context.Context) error {
	found, err := newAuditor(d.count).settle(ctx)
	if err == nil && int64(found.states[Rejected]) != d.told.Load() {
		err = fmt.Errorf("%d clients were told that their order was rejected, and %d were", d.told.Load(), found.states[Rejected])
	}
	if err != nil {
		d.fault(err)
	}
	d.tell.Info("settled", "delivered", found.states[Delivered], "rejected", found.states[Rejected], "voyages", found.voyages,
		"containers", found.stock, "longest", time.Duration(d.slow.Load()).Round(time.Millisecond).String())
	if n := d.faults.Load(); n > 0 {
		return fmt.Errorf("%d faults", n)
	}
	return nil
}
