package console

import (
	"slices"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// kept is how many transitions of one breaker are remembered.
const kept = 16

// transition is one change of a breaker's state.
type transition struct {
	at       backstay.Instant
	from, to string
	why      backstay.Reason
	wait     time.Duration // how long it stays open
}

// timeline is the latest transitions of one breaker, the oldest first. The
// zero value is empty and ready.
type timeline struct {
	mu  sync.Mutex
	all []transition
}

func (t *timeline) add(change transition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) == kept {
		t.all = slices.Delete(t.all, 0, 1)
	}
	t.all = append(t.all, change)
}

func (t *timeline) transitions() []transition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all)
}
