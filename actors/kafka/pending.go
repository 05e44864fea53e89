package kafka

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/backstay-go/backstay/actors/journal"
)

// pending are the appends to types that were not looked at yet. Who appends is
// the loop of an owner: what waits for the brokers to describe a topic waits
// here, in its order, and holds up nothing else.
type pending struct {
	some atomic.Int32 // types; most often none

	mu     sync.Mutex
	byType map[string][]*appending
	bytes  int
}

// appending is one of them.
type appending struct {
	to   journal.Partition
	data []byte
	done func(journal.Place, error)
}

// add keeps an append, if its type is looked at now, or is to be: start says
// that. Else it may be sent at once. first says that nobody looks yet.
func (w *pending) add(a *appending, start bool, bound int) (kept, first bool, err error) {
	if !start && w.some.Load() == 0 {
		return false, false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before, looking := w.byType[a.to.Type]
	switch {
	case !looking && !start:
		return false, false, nil
	case w.bytes+len(a.data) > bound && w.bytes > 0:
		return false, false, fmt.Errorf("%w: %d bytes wait for topics to be looked at", ErrQueueFull, w.bytes)
	case !looking:
		w.some.Add(1)
	}
	if w.byType == nil {
		w.byType = make(map[string][]*appending)
	}
	w.byType[a.to.Type] = append(before, a)
	w.bytes += len(a.data)
	return true, !looking, nil
}

// take returns what waits for a type; nothing more waits when there is none.
func (w *pending) take(actorType string) []*appending {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byType[actorType]
	if len(all) == 0 {
		delete(w.byType, actorType)
		w.some.Add(-1)
		return nil
	}
	w.byType[actorType] = nil
	for _, a := range all {
		w.bytes -= len(a.data)
	}
	return all
}

func (w *pending) waiting() (records, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, all := range w.byType {
		records += len(all)
	}
	return records, w.bytes
}
