package kafka

import (
	"context"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
)

// appointed is a Log whose process owns what it is told to, from when it joins
// until it ends: nobody has to notice that another one has died, and no group
// has to agree on it. What is left of a failure is the takeover.
type appointed struct {
	*kafka.Log
	own []journal.Partition
}

func (a appointed) Join(_ context.Context, m journal.Member) (journal.Membership, error) {
	return mandate{m, a.own}, nil
}

// mandate is a membership that does not change.
type mandate struct {
	journal.Member
	own []journal.Partition
}

func (m mandate) Assigned() (all []journal.Partition, changed <-chan struct{}) { return m.own, nil }

func (m mandate) Members() []journal.Member { return []journal.Member{m.Member} }

func (m mandate) Leave(context.Context) error { return nil }
