package main

import (
	"time"

	"github.com/backstay-go/backstay"
)

// engine runs events in the order of their times: a clock that jumps from one
// to the next, so that an hour takes no longer than what happens in it. Events
// of the same time run in the order in which they were planned, which makes a
// run depend on nothing but its seed.
type engine struct {
	now     time.Duration
	planned int
	heap    []event
}

type event struct {
	at     time.Duration
	number int
	run    func()
}

// after plans f for d from now.
func (e *engine) after(d time.Duration, f func()) {
	e.planned++
	e.heap = append(e.heap, event{e.now + d, e.planned, f})
	for i := len(e.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !e.heap[i].before(e.heap[parent]) {
			return
		}
		e.heap[i], e.heap[parent] = e.heap[parent], e.heap[i]
		i = parent
	}
}

// run lets everything happen that is planned up to end.
func (e *engine) run(end time.Duration) {
	for len(e.heap) > 0 && e.heap[0].at <= end {
		next := e.pop()
		e.now = next.at
		next.run()
	}
}

func (e *engine) pop() event {
	first, last := e.heap[0], len(e.heap)-1
	e.heap[0], e.heap[last] = e.heap[last], event{} // lets go of the function
	e.heap = e.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && e.heap[child+1].before(e.heap[child]) {
			child++
		}
		if child >= last || !e.heap[child].before(e.heap[i]) {
			return first
		}
		e.heap[i], e.heap[child] = e.heap[child], e.heap[i]
		i = child
	}
}

func (v event) before(w event) bool { return v.at < w.at || v.at == w.at && v.number < w.number }

// instant is the engine's time as the policies read it.
func (e *engine) instant() backstay.Instant { return backstay.Instant(1).Add(e.now) }

// forever is beyond everything that is planned.
const forever = time.Duration(1<<63 - 1)
