package runtime

import (
	"fmt"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// holdup says why a request has not ended, as far as this partition can see: what
// it has called, or what is before it on its actor, and what its last attempt
// failed with. It is empty if the method simply runs, or if the chain went elsewhere.
func (inc *incarnation) holdup(id record.ID) string {
	e := inc.state.Lookup(id)
	if e == nil {
		return ""
	}
	lines := inc.calls(e)
	if b := inc.blocker(e); b != nil && !e.Begun {
		lines = inc.chain(e, b)
	}
	if last := inc.reasons[id]; last != nil {
		lines = append(lines, "its last attempt failed: "+brief(last.Reason))
	}
	return strings.Join(lines, ", ")
}

// mostCalls bounds how many calls are told of a request.
const mostCalls = 10

// calls tells which calls of a request have no answer yet. Those of an attempt
// that is over have no names any more.
func (inc *incarnation) calls(e *machine.Entry) []string {
	labels := inc.labels(e.ID)
	issued := e.Issued()
	var lines []string
	for _, c := range issued[:min(len(issued), mostCalls)] {
		lines = append(lines, fmt.Sprintf("%s waits for %s(request %v at %v)%s", describe(e), labels[c.ID], c.ID, c.Partition, inc.node.unhosted(c.Partition.Type)))
	}
	if more := len(issued) - mostCalls; more > 0 {
		lines = append(lines, fmt.Sprintf("and for %d more", more))
	}
	return lines
}

// labels are the names of what the attempt at a request has called.
func (inc *incarnation) labels(id record.ID) map[record.ID]string {
	a := inc.work[id]
	if a == nil || a == resolving {
		return nil
	}
	labels := make(map[record.ID]string)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.pending {
		labels[p.id] = p.label() + " "
	}
	return labels
}
