package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

var (
	errConflict = errors.New("database: could not serialize access, try again")
	errDown     = errors.New("database: connection refused")
	errNoRow    = errors.New("database: no such row")
)

// database stands for one, and for its driver.
type database struct {
	queries atomic.Int64
	// mood says what becomes of the n-th query.
	mood func(ctx context.Context, n int64) error
}

// find returns the row of an order. What its caller did wrong it marks as such:
// no other attempt will mend it, and it says nothing of the database's health.
func (db *database) find(ctx context.Context, number int) (string, error) {
	err := db.mood(ctx, db.queries.Add(1))
	switch {
	case errors.Is(err, errNoRow):
		return "", backstay.PermanentError(err)
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("order %d", number), nil
}

// conflicting makes every other query meet a conflict.
func conflicting(_ context.Context, n int64) error {
	if n%2 == 1 {
		return errConflict
	}
	return nil
}

func down(context.Context, int64) error { return errDown }

func empty(context.Context, int64) error { return errNoRow }
