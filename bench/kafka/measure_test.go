package kafka

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// operation is one kind of call.
type operation struct {
	name string
	call func(ctx context.Context, caller int) error
}

// turns times n calls of every operation, one call at a time, in a round, and
// returns the times of each round by operation. Every round begins with
// another operation, so that none always follows the same one.
func turns(ctx context.Context, operations []operation, rounds, n int) ([][][]time.Duration, error) {
	all := make([][][]time.Duration, rounds)
	for r := range rounds {
		all[r] = make([][]time.Duration, len(operations))
		for i := range operations {
			at := (r + i) % len(operations)
			times, err := sequence(ctx, operations[at], n)
			if err != nil {
				return nil, err
			}
			all[r][at] = times
		}
	}
	return all, nil
}

// sequence times calls one after another.
func sequence(ctx context.Context, o operation, n int) ([]time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		began := time.Now()
		if err := o.call(ctx, 0); err != nil {
			return nil, failed(o, err)
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times, nil
}

// floods measures the calls a second of every operation, in rounds.
func floods(ctx context.Context, operations []operation, rounds int, d time.Duration) ([][]float64, error) {
	all := make([][]float64, rounds)
	for r := range rounds {
		for _, o := range operations {
			rate, err := flood(ctx, o, d)
			if err != nil {
				return nil, err
			}
			all[r] = append(all[r], rate)
		}
	}
	return all, nil
}

// flood calls from all callers at once for a while, and returns how many calls
// ended a second.
func flood(ctx context.Context, o operation, d time.Duration) (float64, error) {
	var done atomic.Int64
	began := time.Now()
	err := atOnce(func(caller int) error {
		for time.Since(began) < d {
			if err := o.call(ctx, caller); err != nil {
				return failed(o, err)
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(began).Seconds(), err
}

// warm makes n calls.
func warm(ctx context.Context, o operation, n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	return atOnce(func(caller int) error {
		for left.Add(-1) >= 0 {
			if err := o.call(ctx, caller); err != nil {
				return failed(o, err)
			}
		}
		return nil
	})
}

// atOnce runs f for every caller.
func atOnce(f func(caller int) error) error {
	var all sync.WaitGroup
	errs := make([]error, callers)
	for i := range errs {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func failed(o operation, err error) error { return errors.Join(errors.New(o.name), err) }

// median is the middle one of numbers.
func median(numbers []float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// percentile is that of sorted times.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
