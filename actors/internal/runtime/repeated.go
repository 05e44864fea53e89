package runtime

import (
	"errors"
	"sync"
	"time"
)

// repeated are failures that come again for as long as something outside is not
// mended: a topic that nobody has made, a store that is away. Each is told when
// it begins, when its cause is another one, and then once a minute, also if it
// comes and goes; what it keeps from its work says so in Health meanwhile.
type repeated struct {
	mu   sync.Mutex
	told map[string]telling
}

// telling is what was told of a failure, and when.
type telling struct {
	cause string
	at    time.Time
}

// tellAgain is how long the same failure is not told again.
const tellAgain = time.Minute

// known reports whether an event was told just now, and notes it if not.
func (r *repeated) known(e *Event) bool {
	what := failing(e)
	if what == "" {
		return false
	}
	now, cause := time.Now(), root(e.Err)
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, told := r.told[what]; told && t.cause == cause && now.Sub(t.at) < tellAgain {
		return true
	}
	if r.told == nil {
		r.told = make(map[string]telling)
	}
	r.told[what] = telling{cause, now}
	return false
}

// failing names what an event says to fail, and to be tried again; empty for all
// others. A topic fails all partitions alike.
func failing(e *Event) string {
	switch e.Kind {
	case AppendFailed, LoadFailed, SnapshotFailed, ClaimFailed:
		if e.Name != "" {
			return string(e.Kind) + " " + e.Name
		}
		return string(e.Kind) + " " + e.Partition.String()
	default:
		return ""
	}
}

// root is the text of what an error comes from: what wraps it may name an actor,
// or an offset, which are others at each try.
func root(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	if err == nil {
		return ""
	}
	return err.Error()
}
