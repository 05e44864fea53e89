package runtime

import (
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// worker is a goroutine that runs one method after another. A new goroutine
// for each would begin with a small stack, and growing it costs more than the
// rest of a quick step.
type worker struct {
	jobs chan job
	step record.Step // to encode from
}

// job is a method to run.
type job struct {
	attempt *Attempt
	ctx     *lazyctx.Ctx
}

// spare is how many workers a partition keeps that have nothing to do.
const spare = 64

// employ gives a method to a worker that is free, or to a new one.
func (inc *incarnation) employ(a *Attempt, ctx *lazyctx.Ctx) {
	inc.methods.Add()
	if n := len(inc.free); n > 0 {
		w := inc.free[n-1]
		inc.free = inc.free[:n-1]
		a.worker = w
		w.jobs <- job{a, ctx} // it is free, so there is room
		return
	}
	w := &worker{jobs: make(chan job, 1)}
	inc.crew[w] = struct{}{}
	a.worker = w
	w.jobs <- job{a, ctx}
	go w.work()
}

// work ends when the incarnation does, when it is not needed any more, or with
// a method that ends its goroutine.
func (w *worker) work() {
	for j := range w.jobs {
		j.attempt.run(j.ctx)
	}
}

// dismiss takes a worker back whose method has returned.
func (inc *incarnation) dismiss(a *Attempt) {
	w := a.worker
	switch {
	case w == nil:
	case a.goexit:
		delete(inc.crew, w)
	case len(inc.free) >= spare:
		delete(inc.crew, w)
		close(w.jobs)
	default:
		inc.free = append(inc.free, w)
	}
	a.worker = nil // it is somebody else's from now on
}

// disband ends all workers, each when its method returns.
func (inc *incarnation) disband() {
	for w := range inc.crew {
		close(w.jobs)
	}
}
