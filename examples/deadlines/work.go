package main

import (
	"context"
	"sync/atomic"
	"time"
)

// work is what the services do, in steps between which they look up. It counts
// the steps, and those that came too late to be of use.
type work struct {
	callerLeft  atomic.Bool
	steps, late atomic.Int64
}

const step = 10 * time.Millisecond

// do works for d, or until ctx ends.
func (w *work) do(ctx context.Context, d time.Duration) error {
	for range d / step {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(step):
		}
		w.steps.Add(1)
		if w.callerLeft.Load() {
			w.late.Add(1)
		}
	}
	return nil
}

func (w *work) done() time.Duration { return step * time.Duration(w.steps.Load()) }

func (w *work) wasted() time.Duration { return step * time.Duration(w.late.Load()) }
