package runtime

import (
	"slices"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// A latch is a link that its actor keeps and that is not begun until a request
// has come in behind it which opens it (Method.Opens). Nothing of it runs
// meanwhile, wherever the partition goes: it is an entry in a mailbox. Not to
// begin what may begin is always the owner's choice, so the machine knows
// nothing of this.

// latched reports whether a link is held back by its latch. Only the later
// links of a chain that keeps its actor are asked.
func (inc *incarnation) latched(e *machine.Entry) bool {
	m := inc.typ.methods[e.Method]
	return m != nil && len(m.Opens) > 0 && inc.opener(e.Target.Actor, m.Opens) == nil
}

// opener is the oldest request of an actor for one of these methods.
func (inc *incarnation) opener(actor string, methods []string) *machine.Entry {
	for e := range inc.state.Queue(actor) {
		if slices.Contains(methods, e.Method) {
			return e
		}
	}
	return nil
}

// Opener is the request that opened the latch of the attempt's method. It must
// not be changed.
func (a *Attempt) Opener() (r record.Request, ok bool) {
	a.inc.guard.RLock()
	defer a.inc.guard.RUnlock()
	e := a.inc.opener(a.request.Target.Actor, a.method.Opens)
	if e == nil {
		return r, false
	}
	return e.Request, true
}
