package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay"
)

// calls is how many transactions are made to be counted.
const calls = 30

// tally counts how calls ended.
type tally struct {
	succeeded, failed, refused int
	last                       error
}

// count makes the calls, one after the other.
func count(ctx context.Context, find func(context.Context, int) (string, error)) tally {
	var t tally
	for number := range calls {
		_, err := find(ctx, number)
		switch {
		case err == nil:
			t.succeeded++
			continue
		case errors.Is(err, backstay.ErrRejected): // by one of ours, not by the database
			t.refused++
		default:
			t.failed++
		}
		t.last = err
	}
	return t
}

func (t tally) String() string {
	return fmt.Sprintf("%d succeed, %d fail, %d are refused", t.succeeded, t.failed, t.refused)
}
