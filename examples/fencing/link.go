package main

import (
	"context"
	"sync"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
)

// link is a process's connection to the log.
type link struct {
	actors.Log
	mu   sync.Mutex
	seat journal.Membership
}

// Join notes the process's place among the members.
func (l *link) Join(ctx context.Context, m journal.Member) (journal.Membership, error) {
	seat, err := l.Log.Join(ctx, m)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seat = seat
	return seat, err
}

// evict gives its partitions to others, who believe that it is dead.
func (l *link) evict(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seat.Leave(ctx)
}
