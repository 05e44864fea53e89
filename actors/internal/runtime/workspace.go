package runtime

import (
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// workspace is what an attempt needs until its Step is applied, and is used by
// another one after that. The Attempt itself is not: a goroutine that the method
// left behind may have it for ever. It finds the gate closed (H13), and so
// comes to nothing in here.
type workspace struct {
	method *Method
	since  time.Time
	worker *worker // nil: it ran on none
	goexit bool    // the method has ended its worker

	// Of the loop.
	running bool    // the method was given to a worker
	calls   uint64  // Issued and Write records of this link
	flying  bool    // a record of it is in flight
	flight  *flight // of that; nil: none that can be used
	waits   []*wait
	closing

	// Of the method, under the Attempt's mu.
	active  int // threads of the method that are not inside Await; 0 or less is none
	ordinal int
	buffer  buffer
	pending []*Pending // calls that are not answered
}

// workspace is an empty one.
func (inc *incarnation) workspace() *workspace {
	last := len(inc.workspaces) - 1
	if last < 0 {
		return new(workspace)
	}
	w := inc.workspaces[last]
	inc.workspaces = inc.workspaces[:last]
	return w
}

// vacate takes the workspace of an attempt whose Step is applied.
func (inc *incarnation) vacate(a *Attempt) {
	w := a.workspace
	a.workspace = nil
	if len(inc.workspaces) >= spare {
		return
	}
	if w.tail != nil {
		*w.tail = record.Call{}
	}
	*w = workspace{
		flight: w.flight.emptied(), closing: closing{tail: w.tail},
		waits: emptied(w.waits), pending: emptied(w.pending),
		buffer: buffer{calls: emptied(w.buffer.calls), delta: record.Delta{Cells: emptied(w.buffer.delta.Cells)}},
	}
	inc.workspaces = append(inc.workspaces, w)
}
