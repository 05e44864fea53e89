package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

// clients are those that place orders.
const clients = 8

// work is a life of the process: it goes on with what an earlier one has left.
func work(ctx context.Context, dir string, s settings, out io.Writer) (err error) {
	log, err := memory.Open(filepath.Join(dir, "log"), memory.WithPartitions(4), memory.WithoutSync())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	node, err := actors.Open(ctx, actors.Config{Name: "shipping"}, log,
		hostManager(), hostOrders(), hostSchedule(), hostVoyages(), hostDepots())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop(ctx)) }()
	ctx = node.Context(ctx)

	if err := equip(ctx); err != nil {
		return err
	}
	a := newAuditor(func() int { return s.orders })
	watching, stop := context.WithCancelCause(ctx)
	var audits sync.WaitGroup
	audits.Go(func() { stop(a.watch(watching)) })
	err = placeAll(watching, dir, s)
	stop(nil)
	audits.Wait()
	if err != nil {
		return err
	}
	return settle(ctx, a, dir, out)
}

// equip is done in every life: the depots and the calendar know what they have.
func equip(ctx context.Context) error {
	for _, p := range ports {
		if _, err := Fill.Call(ctx, Depot.Ref(p), stockOfPort); err != nil {
			return err
		}
	}
	_, err := Begin.Call(ctx, theSchedule, none{})
	return err
}

func orderAt(i int) actors.Ref[order] { return Order.Ref(fmt.Sprintf("no. %d", i+1)) }

// bookingOf is the i-th order, the same in every life.
func bookingOf(i int, seed uint64) Booking {
	r := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // no secret
	from := r.IntN(len(ports))
	to := (from + 1 + r.IntN(len(ports)-1)) % len(ports)
	return Booking{Order: orderAt(i), From: ports[from], To: ports[to], Containers: 1 + r.IntN(5)}
}

// placeAll places the orders that are not answered yet. Those that an earlier
// life had placed are placed again: the key makes them one.
func placeAll(ctx context.Context, dir string, s settings) (err error) {
	notes, err := readDiary(dir, s.orders)
	if err != nil {
		return err
	}
	d, err := openDiary(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.file.Close()) }()
	var all sync.WaitGroup
	failures := make(chan error, clients)
	for c := range clients {
		all.Go(func() {
			for i := c; i < s.orders; i += clients {
				if !notes[i].answered.IsZero() {
					continue
				}
				if err := place(ctx, d, i, s.seed); err != nil {
					failures <- err
					return
				}
				time.Sleep(s.pace)
			}
		})
	}
	all.Wait()
	close(failures)
	return <-failures
}

func place(ctx context.Context, d *diary, i int, seed uint64) error {
	if err := d.write(i, Placed); err != nil {
		return err
	}
	b := bookingOf(i, seed)
	receipt, err := Book.Call(ctx, theManager, b, actors.IdempotencyKey(b.Order.ID))
	if err != nil {
		return errors.Join(err, context.Cause(ctx)) // the auditor's words, if it was him
	}
	return d.write(i, receipt.State)
}

// settle waits until the last ship has arrived, and draws the line.
func settle(ctx context.Context, a *auditor, dir string, out io.Writer) error {
	found, err := a.settle(ctx)
	if err != nil {
		return err
	}
	return draw(found, dir, out)
}

// draw compares the clients' receipts with what became of their orders, and
// says how it went.
func draw(found audited, dir string, out io.Writer) error {
	orders := found.states[Rejected] + found.states[Delivered]
	notes, err := readDiary(dir, orders)
	if err != nil {
		return err
	}
	rejected := 0
	for i, n := range notes {
		switch n.state {
		case Rejected:
			rejected++
		case Booked:
		default:
			return fmt.Errorf("%v was never answered", orderAt(i))
		}
	}
	if rejected != found.states[Rejected] {
		return fmt.Errorf("%d clients were told that their order was rejected, and %d were", rejected, found.states[Rejected])
	}
	fmt.Fprintf(out, "  %d orders: %d delivered, %d found no room; %d voyages; %d containers, of %d at the beginning\n",
		orders, found.states[Delivered], rejected, found.voyages, found.stock, stockOfPort*len(ports))
	return nil
}
