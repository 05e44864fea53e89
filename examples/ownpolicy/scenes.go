package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// scene shows the policies at one kind of trouble.
type scene struct {
	title string
	play  func(context.Context, io.Writer) error
}

var scenes = []scene{
	{"Every transaction meets a conflict: another attempt mends it, and nobody is ill", showConflicts},
	{"The order does not exist: that is the caller's mistake, and not tried again", showMistakes},
	{"The database is down: after a while it is left alone", showOutage},
	{"All connections are taken: what does not fit is refused at once", showPool},
}

func showConflicts(ctx context.Context, out io.Writer) error {
	o, err := newOrders(&database{mood: conflicting})
	if err != nil {
		return err
	}
	t := count(ctx, o.find)
	fmt.Fprintf(out, "   nested by hand:  %v; the breaker is %v\n", t, o.health.State())

	canonical, err := middleware.New(middleware.Target{Name: "orders", Config: settings})
	if err != nil {
		return err
	}
	db := &database{mood: conflicting}
	t = count(ctx, func(ctx context.Context, number int) (string, error) {
		return middleware.Do(ctx, canonical, func(ctx context.Context) (string, error) {
			return db.find(ctx, number)
		})
	})
	fmt.Fprintf(out, "   canonical order: %v; the breaker is %v\n", t, canonical.Breaker().State())
	return nil
}

func showMistakes(ctx context.Context, out io.Writer) error {
	o, err := newOrders(&database{mood: empty})
	if err != nil {
		return err
	}
	t := count(ctx, o.find)
	fmt.Fprintf(out, "   %v, after %d queries; the breaker is %v\n", t, o.db.queries.Load(), o.health.State())
	fmt.Fprintf(out, "   the caller sees: %v\n", t.last)
	return nil
}

func showOutage(ctx context.Context, out io.Writer) error {
	o, err := newOrders(&database{mood: down})
	if err != nil {
		return err
	}
	t := count(ctx, o.find)
	fmt.Fprintf(out, "   %v, after %d queries; the breaker is %v\n", t, o.db.queries.Load(), o.health.State())
	fmt.Fprintf(out, "   the last caller sees: %v\n", t.last)
	return nil
}

func showPool(ctx context.Context, out io.Writer) error {
	entered, finish := make(chan struct{}), make(chan struct{})
	o, err := newOrders(&database{mood: func(context.Context, int64) error {
		entered <- struct{}{}
		<-finish
		return nil
	}})
	if err != nil {
		return err
	}
	var held sync.WaitGroup
	var errs [pool]error
	for i := range pool {
		held.Go(func() { _, errs[i] = o.find(ctx, i) })
		<-entered
	}
	_, refused := o.find(ctx, pool)
	close(finish)
	held.Wait()
	fmt.Fprintf(out, "   %d transactions are under way; another one sees: %v\n", pool, refused)
	if !errors.Is(refused, backstay.ErrRejected) {
		return fmt.Errorf("it was not refused: %w", refused)
	}
	return errors.Join(errs[:]...)
}
