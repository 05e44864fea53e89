package simtest

import (
	"context"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// store is the state store as a process sees it.
type store struct{ *View }

// Store returns the state store of the cluster, as the process sees it.
func (v *View) Store() journal.StateStore { return store{v} }

// Load returns a row.
func (s store) Load(ctx context.Context, p journal.Partition, actor string) (r journal.Row, found bool, err error) {
	err = s.fetch(ctx, func() (err error) {
		r, found, err = s.cluster.store.Load(ctx, p, actor)
		return err
	})
	return r, found, err
}

// List returns ids.
func (s store) List(ctx context.Context, p journal.Partition, after string, limit int) (all []string, err error) {
	err = s.fetch(ctx, func() (err error) {
		all, err = s.cluster.store.List(ctx, p, after, limit)
		return err
	})
	return all, err
}

// Saved is how far the rows go.
func (s store) Saved(ctx context.Context, p journal.Partition) (int64, error) {
	if err := s.travel(ctx); err != nil {
		return 0, err
	}
	return s.cluster.store.Saved(ctx, p)
}

// Save changes rows, perhaps late, perhaps some of them only: each row may come
// alone, as to a store that knows no larger act.
func (s store) Save(ctx context.Context, p journal.Partition, at int64, changes []journal.Change) error {
	c := s.cluster
	c.mu.Lock()
	due := c.pass(s.View, "store")
	s.strike(due)
	half := s.rng.IntN(len(changes) + 1)
	c.mu.Unlock()
	switch {
	case has(due, Fail) != nil: // some rows are written
		if err := s.travel(ctx); err != nil {
			return err
		}
		_ = c.store.Save(ctx, p, at, changes[:half])
		return errFailed
	case has(due, FailLate) != nil: // of a process that may be dead by then, beside newer owners
		time.AfterFunc(has(due, FailLate).For, func() { _ = c.keep(p, at, changes) })
		return errLost
	case has(due, Slow) != nil:
		time.Sleep(has(due, Slow).For)
	}
	if err := s.travel(ctx); err != nil {
		return err
	}
	err := c.keep(p, at, changes)
	if has(due, CrashAfter) != nil { // the rows are there, the manifest will not be
		s.Kill()
	}
	return err
}

// keep changes rows, and has the judge look at all of them.
func (c *Cluster) keep(p journal.Partition, at int64, changes []journal.Change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.store.Save(context.Background(), p, at, changes)
	if err == nil && c.judge != nil {
		c.judge.stored(record.Partition(p), at, c.store)
	}
	return err
}
