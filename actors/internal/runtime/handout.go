package runtime

import "github.com/backstay-go/backstay/actors/internal/machine"

// handout is what a turn has for others: answers for clients, methods for
// workers. They get it when the turn is over. Who is woken in the middle of it
// runs beside it, on another processor, to which it has to be carried; who is
// woken at its end can have this one.
type handout struct {
	answers []machine.Answer
	methods []*Attempt
}

// answer emits the end of a root, from an applied record only (H21): at best
// once, since a client that got none asks again. Nobody waits for that of a tell.
func (inc *incarnation) answer(a machine.Answer) {
	if a.Reply == "" {
		return
	}
	inc.handout.answers = append(inc.handout.answers, a)
}

// engage has a worker run a method.
func (inc *incarnation) engage(a *Attempt) { inc.handout.methods = append(inc.handout.methods, a) }

// handOut ends a turn. What was answered stays so; no method begins any more
// when the incarnation has ended.
func (inc *incarnation) handOut() {
	h := &inc.handout
	for i := range h.answers {
		a := &h.answers[i]
		inc.node.emit(a.Reply, a.ID, a.Result)
	}
	for _, a := range h.methods {
		if inc.ended == nil {
			inc.employ(a)
		}
	}
	h.answers, h.methods = emptied(h.answers), emptied(h.methods)
}

// emptied is the room of a list that holds nothing any more.
func emptied[T any](list []T) []T {
	clear(list)
	return list[:0]
}
