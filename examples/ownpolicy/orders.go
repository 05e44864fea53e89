package main

import (
	"context"
	"errors"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// pool is how many connections there are to the database.
const pool = 4

// settings are those of the policies, in whatever order they act.
var settings = middleware.Config{
	Bulkhead: &bulkhead.Config{Limit: pool},
	Breaker:  &breaker.Config{},
	Retry: &retry.Config{
		Base:   5 * time.Millisecond,         // a conflict is over soon
		Budget: retry.BudgetConfig{Ratio: 1}, // and frequent; the bulkhead bounds the load
	},
	Timeout: &timeout.Config{After: time.Second},
}

// orders keeps orders in a database.
type orders struct {
	db          *database
	connections *bulkhead.Bulkhead
	health      *breaker.Breaker
	conflicts   *retry.Policy
	statement   *timeout.Policy
}

func newOrders(db *database) (*orders, error) {
	named := &backstay.Scope{Policy: "orders"} // in errors and events
	connections, err1 := bulkhead.New(*settings.Bulkhead, bulkhead.WithScope(named))
	health, err2 := breaker.New(*settings.Breaker, breaker.WithScope(named))
	conflicts, err3 := retry.New(*settings.Retry, retry.WithScope(named))
	statement, err4 := timeout.New(*settings.Timeout, timeout.WithScope(named))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	return &orders{db, connections, health, conflicts, statement}, nil
}

// transact is the order of the policies.
func transact[T any](ctx context.Context, o *orders, f func(context.Context) (T, error)) (T, error) {
	return bulkhead.Do(ctx, o.connections, func(ctx context.Context) (T, error) {
		return breaker.Do(ctx, o.health, func(ctx context.Context) (T, error) {
			return retry.Do(ctx, o.conflicts, func(ctx context.Context) (T, error) {
				return timeout.Do(ctx, o.statement, f)
			})
		})
	})
}

// find returns the order with the number.
func (o *orders) find(ctx context.Context, number int) (string, error) {
	return transact(ctx, o, func(ctx context.Context) (string, error) {
		return o.db.find(ctx, number)
	})
}
