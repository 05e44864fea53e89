package simtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// found is a request, somewhere.
type found struct {
	*record.Request
	in    *ledger
	where string
}

// requests goes through all that is live, delayed or in transit, everywhere.
func (j *Judge) requests(yield func(found) bool) {
	for _, l := range j.sorted() {
		for _, q := range l.live {
			if !yield(found{&q.Request, l, "live"}) {
				return
			}
		}
		for _, q := range l.delayed {
			if !yield(found{&q.Request, l, "delayed"}) {
				return
			}
		}
		for to := range l.out {
			for _, m := range j.transit(l, to) {
				if r, ok := m.(*record.Request); ok && !yield(found{r, l, "in transit"}) {
					return
				}
			}
		}
	}
}

func (j *Judge) sorted() []*ledger {
	all := make([]*ledger, 0, len(j.ledgers))
	for _, l := range j.ledgers {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *ledger) int { return compareParts(a.self, b.self) })
	return all
}

// transit is what a partition has sent and another not yet accepted.
func (j *Judge) transit(l *ledger, to record.Dest) []record.Message {
	if to.Topic != "" {
		return nil
	}
	var got uint64
	if d := j.ledgers[to.Partition]; d != nil {
		got = d.in[l.self]
	}
	return l.out[to][min(got, uint64(len(l.out[to]))):]
}

// nested reports whether a child of a request lives.
func (j *Judge) nested(id record.ID) bool {
	for r := range j.requests {
		if r.Return.Kind == record.ReturnParent && r.Return.Parent == id {
			return true
		}
	}
	return false
}

// Unfinished says what is left to be done; empty means that all is quiet.
func (j *Judge) Unfinished() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []string
	for r := range j.requests {
		if r.where == "delayed" && r.NotBefore > r.in.clock+1000 {
			continue
		}
		left = append(left, fmt.Sprintf("%s of %s/%s (%v) is %s in %v", r.Method, r.Target.Type, r.Target.Actor, r.Link, r.where, r.in.self))
	}
	for _, l := range j.sorted() {
		for to := range l.out {
			if n := len(j.transit(l, to)); n > 0 {
				left = append(left, fmt.Sprintf("%d messages from %v to %v", n, l.self, to))
			}
		}
		for id, r := range l.roots {
			if !r.done {
				left = append(left, fmt.Sprintf("root %v of %v is open", id, l.self))
			}
		}
	}
	return strings.Join(append(left, j.untold()...), "\n")
}

// Answers are those of roots that have ended, by the baggage that their clients
// gave them.
func (j *Judge) Answers() map[string]record.Result {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make(map[string]record.Result)
	for _, l := range j.ledgers {
		for id, r := range l.roots {
			if r.done {
				all[j.labels[id]] = r.answer
			}
		}
	}
	return all
}

// Cell is a cell of an actor, as the log says.
func (j *Judge) Cell(typ, actor, name string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for p, l := range j.ledgers {
		if v, ok := l.cells[actor][name]; ok && p.Type == typ {
			return v
		}
	}
	return ""
}

// Overdue says which reminders are long past, by the log's clock.
func (j *Judge) Overdue(now int64) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.sorted() {
		for k, r := range l.reminders {
			if r.Next < now {
				return fmt.Sprintf("reminder %s of %s in %v is due since %d ms", k.name, k.actor, l.self, now-r.Next)
			}
		}
	}
	return ""
}
