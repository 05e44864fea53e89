package runtime

import (
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// glanced is how many entries of a replay are prepared together: as many as a
// processor can wait for at once, about.
const glanced = 32

// glance has the machine prepare the requests among the next entries.
func (inc *incarnation) glance(entries []journal.Entry) {
	ids := make([]record.ID, 0, glanced)
	for i := range min(len(entries), glanced) {
		if id, is := record.RequestID(entries[i].Data); is {
			ids = append(ids, id)
		}
	}
	inc.state.Glance(ids)
}
