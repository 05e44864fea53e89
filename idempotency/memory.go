package idempotency

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// The defaults of a [MemoryConfig].
const (
	DefaultMaxRecords = 100_000
	DefaultMaxBytes   = 64 << 20
)

// recordOverhead is what a record takes besides its key and answer.
const recordOverhead = 256

// MemoryConfig is the data of a [Memory]. The zero value is the default.
type MemoryConfig struct {
	// MaxRecords is how many keys are held at once, in flight and completed.
	// With the default retention of 24 h, 100,000 records serve a little more
	// than one new key a second. 0 means [DefaultMaxRecords].
	MaxRecords int `json:"max_records,omitempty" yaml:"max_records,omitempty"`
	// MaxBytes is how much the records may take, keys and overhead included.
	// No new key is begun above it; work that has begun may still leave its
	// answer. 0 means [DefaultMaxBytes].
	MaxBytes int64 `json:"max_bytes,omitempty" yaml:"max_bytes,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c MemoryConfig) Validate() error {
	return backstay.Check(
		backstay.Setting{Path: "max_records", Value: c.MaxRecords,
			Valid: c.MaxRecords >= 0 && c.MaxRecords <= 1e9, Allowed: "must be from 1 to 1,000,000,000"},
		backstay.Setting{Path: "max_bytes", Value: c.MaxBytes,
			Valid: c.MaxBytes >= 0 && c.MaxBytes <= 1<<50, Allowed: "must be from 1 to 1 PiB"},
	)
}

// Memory is a [Store] in the memory of one process: for a service of one
// instance, for consumers that own their partition, and for tests. Keys are
// lost when the process ends. It is a [Waiter], needs no goroutine, and drops
// what has expired as new keys come. It is safe for use by many goroutines.
type Memory struct {
	maxRecords int
	maxBytes   int64

	mu      sync.Mutex // held for moves of memory only
	records map[string]*record
	expiry  expiryQueue
	bytes   int64
}

var (
	_ Store  = (*Memory)(nil)
	_ Waiter = (*Memory)(nil)
)

// NewMemory returns an empty store, or every fault of the configuration.
func NewMemory(c MemoryConfig) (*Memory, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("idempotency.memory", err)
	}
	return &Memory{
		maxRecords: cmp.Or(c.MaxRecords, DefaultMaxRecords),
		maxBytes:   cmp.Or(c.MaxBytes, DefaultMaxBytes),
		records:    make(map[string]*record),
	}, nil
}

// Len is the number of records held, expired ones that were not dropped yet
// included.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.records)
}

// Begin claims a key; see [Store].
func (m *Memory) Begin(ctx context.Context, c Claim, f Fingerprint, lease time.Duration) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	result, err := m.begin(backstay.Now(), c, f, lease)
	result.Record.Answer = bytes.Clone(result.Record.Answer) // outside the lock: answers do not change
	return result, err
}

func (m *Memory) begin(now backstay.Instant, c Claim, f Fingerprint, lease time.Duration) (Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[c.Key]
	switch state := r.judge(now, c, f); state {
	case Started:
		return m.start(now, r, c, f, lease)
	case InFlight:
		return Result{State: state, Remaining: r.until.Sub(now)}, nil
	case Completed:
		return Result{State: state, Record: r.kept}, nil
	default:
		return Result{State: state}, nil
	}
}

// start makes c the owner of a key that is free, or is its own already.
func (m *Memory) start(now backstay.Instant, r *record, c Claim, f Fingerprint, lease time.Duration) (Result, error) {
	if r.owns(now, c) {
		m.move(r, now.Add(lease))
		return Result{State: Started}, nil
	}
	if r != nil {
		m.drop(r)
	}
	if !m.makeRoom(now) {
		return Result{}, ErrStoreFull
	}
	r = &record{claim: c, print: f, until: now.Add(lease)}
	m.records[c.Key] = r
	m.bytes += r.size()
	heap.Push(&m.expiry, r)
	return Result{State: Started}, nil
}

// Renew prolongs a lease; see [Store].
func (m *Memory) Renew(ctx context.Context, c Claim, lease time.Duration) error {
	return m.asOwner(ctx, c, func(now backstay.Instant, r *record) {
		m.move(r, now.Add(lease))
	})
}

// Release frees a key; see [Store].
func (m *Memory) Release(ctx context.Context, c Claim) error {
	return m.asOwner(ctx, c, func(_ backstay.Instant, r *record) { m.drop(r) })
}

// Complete keeps an answer; see [Store]. Memory takes every answer of work
// that it has let begin.
func (m *Memory) Complete(ctx context.Context, c Claim, kept Record, retention time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	kept.Answer = bytes.Clone(kept.Answer)
	now := backstay.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[c.Key]
	switch {
	case r.owns(now, c):
		r.done, r.kept = true, kept
		m.bytes += int64(len(kept.Answer))
		r.wake()
		m.move(r, now.Add(retention))
		return nil
	case r.completedBy(now, c):
		return nil
	default:
		return ErrLeaseLost
	}
}

// asOwner lets f change the record of c in one step, if c owns it.
func (m *Memory) asOwner(ctx context.Context, c Claim, f func(backstay.Instant, *record)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := backstay.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[c.Key]
	if !r.owns(now, c) {
		return ErrLeaseLost
	}
	f(now, r)
	return nil
}

// Wait returns when a key is not in flight; see [Waiter].
func (m *Memory) Wait(ctx context.Context, key string) error {
	for {
		changed, left := m.watch(key)
		if changed == nil {
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
			timer.Stop()
			return nil
		case <-timer.C: // the lease has passed, unless it was renewed meanwhile
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// watch returns a channel that closes when key is not in flight any longer,
// and what is left of its lease; nil if it is not in flight.
func (m *Memory) watch(key string) (<-chan struct{}, time.Duration) {
	now := backstay.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	if !r.alive(now) || r.done {
		return nil, 0
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed, r.until.Sub(now)
}
