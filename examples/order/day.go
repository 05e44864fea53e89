package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
	"github.com/backstay-go/backstay/idempotency"
)

// day is how bad a day is to be.
type day struct {
	customers, orders int // orders of each customer
	kills             int
	console           string // the address of the live page
}

// pass lets the day pass, and returns what happened.
func (d day) pass(ctx context.Context, out io.Writer) (_ *history, err error) {
	dir, err := os.MkdirTemp("", "backstay-order-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	service, err := openCardService()
	if err != nil {
		return nil, err
	}
	defer service.close()
	if err := publish(dir, "cards", service.server.URL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := new(history)
	over := make(chan struct{})
	bought := make(chan error, 1)
	go func() {
		defer close(over)
		bought <- d.shopping(ctx, dir, h)
	}()
	shop := drill.Drill{Dir: dir, Kills: d.kills, Least: 200 * time.Millisecond, Within: 900 * time.Millisecond, Over: over, Out: out}
	kills, err := shop.Run(ctx)
	cancel() // if the shop has failed, the customers may go
	if err := errors.Join(err, <-bought); err != nil {
		return nil, err
	}
	h.kills, h.asked, h.charged = kills, service.asked.Load(), service.charged()
	return h, nil
}

// shopping is what the customers do: they place their orders one after the
// other, and in the evening ask for each of them again.
func (d day) shopping(ctx context.Context, dir string, h *history) error {
	network := &http.Transport{}
	defer network.CloseIdleConnections()
	client := &http.Client{Transport: network}
	var group sync.WaitGroup
	errs := make([]error, d.customers)
	for i := range d.customers {
		c := &customer{name: fmt.Sprintf("customer-%d", i+1), dir: dir, client: client, sent: &h.requests}
		orders := d.wishes(i)
		h.orders = append(h.orders, orders...)
		group.Go(func() { errs[i] = c.shop(ctx, orders) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// wishes are the orders of a customer: most cards are good, some have no money,
// a few do not exist.
func (d day) wishes(customer int) (orders []*purchase) {
	for i := range d.orders {
		card := "5105-"
		switch {
		case i%9 == 4:
			card = declined
		case i%20 == 7:
			card = unknown
		}
		orders = append(orders, &purchase{
			Purchase: Purchase{Card: fmt.Sprintf("%s%04d", card, customer), Cents: 100 * (i + 1)},
			key:      idempotency.NewKey(),
		})
	}
	return orders
}

// shop places the orders of a customer, and asks for each again.
func (c *customer) shop(ctx context.Context, orders []*purchase) error {
	for _, p := range orders {
		if err := c.buy(ctx, p); err != nil {
			return err
		}
	}
	for _, p := range orders {
		again, err := c.click(ctx, p)
		if err != nil {
			return fmt.Errorf("%s, asking again: %w", c.name, err)
		}
		p.answers = append(p.answers, again)
	}
	return nil
}
