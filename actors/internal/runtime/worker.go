package runtime

import "github.com/backstay-go/backstay/actors/internal/record"

// worker is a goroutine that runs one method after another. A new goroutine
// for each would begin with a small stack, and growing it costs more than the
// rest of a quick step.
type worker struct {
	jobs chan *Attempt
	next *Attempt    // what it has given to itself, driving
	step record.Step // to encode from
}

// spare is how many workers a partition keeps that have nothing to do.
const spare = 64

// employ gives a method to a worker that is free, or to a new one.
func (inc *incarnation) employ(a *Attempt) {
	inc.methods.Add()
	n := len(inc.idlers)
	if n == 0 {
		w := &worker{jobs: make(chan *Attempt, 1)}
		inc.crew[w] = struct{}{}
		a.worker = w
		w.jobs <- a
		go w.work()
		return
	}
	w := inc.idlers[n-1]
	inc.idlers = inc.idlers[:n-1]
	a.worker = w
	if w == inc.driver {
		w.next = a
		return
	}
	w.jobs <- a // it is free, so there is room
}

// work ends when the incarnation does, when it is not needed any more, or with
// a method that ends its goroutine.
func (w *worker) work() {
	for a := range w.jobs {
		for a != nil {
			a.run()
			w.step = record.Step{} // an idle worker holds nothing of what it wrote
			a, w.next = w.next, nil
		}
	}
}

// dismiss takes a worker back whose method has returned.
func (inc *incarnation) dismiss(a *Attempt) {
	w := a.worker
	switch {
	case w == nil:
	case a.goexit:
		delete(inc.crew, w)
	case len(inc.idlers) >= spare:
		delete(inc.crew, w)
		close(w.jobs)
	default:
		inc.idlers = append(inc.idlers, w)
	}
	a.worker = nil // it is somebody else's from now on
}

// disband ends all workers, each when its method returns.
func (inc *incarnation) disband() {
	for w := range inc.crew {
		close(w.jobs)
	}
}
