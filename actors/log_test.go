package actors_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// without is a log that has none for one type.
type without struct {
	*memory.Log
	missing string
}

func (l without) Count(ctx context.Context, actorType string) (uint32, error) {
	if actorType == l.missing {
		return 0, journal.ErrNoType
	}
	return l.Log.Count(ctx, actorType)
}

// tight is a log that takes no entry of more than 10 KiB.
type tight struct{ *memory.Log }

func (l tight) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	if len(data) > 10<<10 {
		done(journal.Place{}, fmt.Errorf("%w: %d bytes", journal.ErrTooLarge, len(data)))
		return
	}
	l.Log.Append(p, data, done)
}

// unreadable is a log whose snapshots cannot be read.
type unreadable struct{ *memory.Log }

var errUnreadable = errors.New("the disk is on fire")

func (unreadable) Manifest(context.Context, journal.Partition) (journal.Manifest, bool, error) {
	return journal.Manifest{}, false, errUnreadable
}

// entries are those of a partition of things.
func entries(c *cluster, index uint32) []journal.Entry {
	c.Helper()
	r, err := c.log.Read(journal.Partition{Type: "thing", Index: index}, 0, func() {})
	c.ok(err)
	defer r.Close()
	var all []journal.Entry
	for {
		some, err := r.Poll(1 << 20)
		c.ok(err)
		if len(some) == 0 {
			return all
		}
		all = append(all, some...)
	}
}
