package simtest

import (
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// grant is a word to a process that a partition is its own.
type grant struct {
	owner     string
	partition record.Partition
}

// granted counts them.
func (j *Judge) granted(owner string, p journal.Partition) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.grants[grant{owner, record.Partition(p)}]++
}

// objectTakeover: one word is good for one takeover, so that of two who believe
// that they are assigned one gives in.
func (j *Judge) objectTakeover(l *ledger, r *record.Takeover) []string {
	g := grant{r.Owner, l.self}
	if j.grants[g] == 0 {
		return []string{"P13: it takes over again and was not told anew that the partition is its own"}
	}
	return nil
}
