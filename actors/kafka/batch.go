package kafka

import (
	"context"
	"fmt"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// batch are records that are sent together and waited for. One goroutine adds
// and waits.
type batch struct {
	mu   sync.Mutex
	out  int
	err  error
	idle chan struct{} // somebody waits until nothing is out
}

// add adds a record, and returns what is told how it ended.
func (b *batch) add() func(journal.Place, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out++
	return b.done
}

func (b *batch) done(_ journal.Place, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out--
	if b.err == nil {
		b.err = err
	}
	if b.out == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// wait waits until all have ended, and returns the first error.
func (b *batch) wait(ctx context.Context) error {
	b.mu.Lock()
	if b.out == 0 {
		defer b.mu.Unlock()
		return b.err
	}
	idle := make(chan struct{})
	b.idle = idle
	b.mu.Unlock()
	select {
	case <-idle:
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.err
	case <-ctx.Done():
		return fmt.Errorf("kafka: %w", context.Cause(ctx))
	}
}
