package kafka

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// table is a shelf in memory. Everything on it takes a while, deletions often a
// long one: as those of a process that stops just before it sends them.
type table struct {
	rng  func(n int) int
	size int

	mu      sync.Mutex
	records []message
}

var errTooLarge = errors.New("too large")

func newTable(seed uint64, size int) *table {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable
	var mu sync.Mutex
	return &table{size: size, rng: func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}}
}

func (t *table) dawdle(most int) { time.Sleep(time.Duration(t.rng(most)) * time.Millisecond) }

func (t *table) bounds(context.Context) (first, next int64, err error) {
	t.dawdle(5)
	t.mu.Lock()
	defer t.mu.Unlock()
	return 0, int64(len(t.records)), nil
}

func (t *table) fetch(_ context.Context, from int64, bytes int32) (block, error) {
	t.dawdle(5)
	t.mu.Lock()
	defer t.mu.Unlock()
	end := int64(len(t.records))
	to := min(from+1+int64(t.rng(5)), end)
	if bytes == 1 {
		to = min(from+1, end)
	}
	var left []message
	for _, m := range t.records[from:to] {
		if m.key != nil {
			left = append(left, m)
		}
	}
	return block{messages: left, next: to, end: end}, nil
}

func (t *table) put(key string, value sarama.Encoder, done func(journal.Place, error)) {
	wait := 0
	if value == nil && t.rng(2) == 0 {
		wait = t.rng(500)
	}
	if wait == 0 {
		done(t.add(key, value))
		return
	}
	time.AfterFunc(time.Duration(wait)*time.Millisecond, func() { done(t.add(key, value)) })
}

func (t *table) add(key string, value sarama.Encoder) (journal.Place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := message{offset: int64(len(t.records)), key: []byte(key)}
	if value != nil {
		m.value, _ = value.Encode() // of bytes
		if len(m.value) > t.size {
			return journal.Place{}, errTooLarge
		}
	}
	t.records = append(t.records, m)
	return journal.Place{Offset: m.offset}, nil
}

// blank takes the records below an offset away, as compaction does.
func (t *table) blank(below int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.records[:below])
}

// compact leaves the newest record of each key, if that is no deletion.
func (t *table) compact() {
	t.mu.Lock()
	defer t.mu.Unlock()
	newest := make(map[string]int)
	for i, m := range t.records {
		newest[string(m.key)] = i
	}
	for i, m := range t.records {
		if newest[string(m.key)] != i || m.value == nil {
			t.records[i] = message{}
		}
	}
}

func (t *table) largest() int { return t.size }
