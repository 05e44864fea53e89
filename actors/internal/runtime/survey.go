package runtime

import "context"

// survey asks all owners at once: their loops answer between two turns, and
// what an owner that has none, or none that answers before ctx ends, could not
// say is left as it was known without it.
func survey[T any](ctx context.Context, owners []*owner, known func(*owner) T, ask func(*incarnation, *T)) []T {
	questions := make([]*question[T], 0, len(owners))
	for _, o := range owners {
		if !o.hasEnded() {
			questions = append(questions, put(o, known(o), ask))
		}
	}
	all := make([]T, len(questions))
	for i, q := range questions {
		all[i] = q.await(ctx)
	}
	return all
}

// question is asked of a loop, and answered by it.
type question[T any] struct {
	known, answer T
	ask           func(*incarnation, *T)
	done          chan struct{}
	inc           *incarnation // nil: there is nobody to answer
}

func put[T any](o *owner, known T, ask func(*incarnation, *T)) *question[T] {
	q := &question[T]{known: known, answer: known, ask: ask, done: make(chan struct{}), inc: o.asked()}
	if q.inc != nil {
		q.inc.post(q)
	}
	return q
}

// asked is the incarnation that can answer, nil if there is none.
func (o *owner) asked() *incarnation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.phase != PhaseOwning && o.phase != PhaseDraining {
		return nil
	}
	return o.current
}

func (q *question[T]) happen(inc *incarnation) {
	defer close(q.done)
	q.ask(inc, &q.answer)
}

func (q *question[T]) await(ctx context.Context) T {
	if q.inc == nil {
		return q.known
	}
	select {
	case <-q.done:
	case <-q.inc.gone:
	case <-ctx.Done():
	}
	select {
	case <-q.done: // also where ctx ended while another one was awaited
		return q.answer
	default:
		return q.known
	}
}
