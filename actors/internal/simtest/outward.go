package simtest

import (
	"context"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// Listen opens an address.
func (v *View) Listen(ctx context.Context, deliver func(data []byte)) (address string, closing func(), err error) {
	return v.cluster.inner.Listen(ctx, func(data []byte) {
		v.cluster.mu.Lock()
		defer v.cluster.mu.Unlock()
		v.perform(func() { go deliver(data) })
	})
}

// Answer sends an answer, which may be lost, or come twice, as over two ways.
func (v *View) Answer(address string, data []byte) {
	c := v.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	v.perform(func() {
		due := c.pass(v, "answer")
		v.strike(due)
		if v.dead || has(due, LoseAnswer) != nil {
			return
		}
		if c.judge != nil {
			c.judge.answered(data)
		}
		time.AfterFunc(v.latency(), func() { c.inner.Answer(address, data) })
		if f := has(due, Copy); f != nil {
			time.AfterFunc(v.latency()+f.For, func() { c.inner.Answer(address, data) })
		}
	})
}

// Publish adds a message to an ordinary topic.
func (v *View) Publish(m journal.Message, done func(journal.Place, error)) {
	c := v.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.closed {
		time.AfterFunc(0, func() { done(journal.Place{}, journal.ErrClosed) })
		return
	}
	v.perform(func() {
		due := c.pass(v, "publish")
		v.strike(due)
		if v.dead {
			return
		}
		if c.judge != nil {
			c.judge.published(&m)
		}
		if has(due, Fail) != nil {
			v.later(v.latency(), func() { done(journal.Place{}, errFailed) })
			return
		}
		time.AfterFunc(v.latency(), func() { v.deliver(m, due, done) })
	})
}

func (v *View) deliver(m journal.Message, due []*Fault, done func(journal.Place, error)) {
	c := v.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	c.letters[m.Topic] = append(c.letters[m.Topic], m)
	place := c.supply(m)
	if has(due, LoseAck) != nil {
		v.later(v.latency(), func() { done(journal.Place{}, errLost) })
		return
	}
	v.later(v.latency(), func() { done(place, nil) })
}

// Manifest returns the newest snapshot's.
func (v *View) Manifest(ctx context.Context, p journal.Partition) (journal.Manifest, bool, error) {
	if err := v.travel(ctx); err != nil {
		return journal.Manifest{}, false, err
	}
	return v.cluster.inner.Manifest(ctx, p)
}

// Chunk returns a part of a snapshot.
func (v *View) Chunk(ctx context.Context, p journal.Partition, c journal.Chunk) ([]byte, error) {
	var b []byte
	err := v.fetch(ctx, func() (err error) {
		b, err = v.cluster.inner.Chunk(ctx, p, c)
		return err
	})
	return b, err
}

// fetch reads what was saved of an actor, which may fail or take long: what was
// read can be out of date when it arrives.
func (v *View) fetch(ctx context.Context, read func() error) error {
	c := v.cluster
	c.mu.Lock()
	due := c.pass(v, "load")
	v.strike(due)
	c.mu.Unlock()
	if has(due, Fail) != nil {
		return errFailed
	}
	if err := v.travel(ctx); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	if f := has(due, Slow); f != nil {
		select {
		case <-time.After(f.For):
		case <-ctx.Done():
		}
	}
	return v.travel(ctx)
}

// Save saves a snapshot, perhaps late.
func (v *View) Save(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	c := v.cluster
	c.mu.Lock()
	due := c.pass(v, "save")
	v.strike(due)
	if c.judge != nil {
		c.judge.saving(record.Partition(p), m, chunks, func(k journal.Chunk) ([]byte, error) { return c.inner.Chunk(ctx, p, k) })
	}
	c.mu.Unlock()
	switch {
	case has(due, Fail) != nil:
		return errFailed
	case has(due, FailLate) != nil: // a save that a dead process has begun ends after a newer one
		time.AfterFunc(has(due, FailLate).For, func() { _ = c.inner.Save(context.Background(), p, m, chunks) })
		return errLost
	case has(due, Slow) != nil:
		time.Sleep(has(due, Slow).For)
	}
	if err := v.travel(ctx); err != nil {
		return err
	}
	return c.inner.Save(ctx, p, m, chunks)
}
