package kafka

import (
	"context"
	"fmt"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/membership"
	"github.com/backstay-go/backstay/internal/hook"
)

// Join makes this process a member of the consumer group App.owners, which
// shares the partitions out, and of those who tell by their beats in App.members
// that they are alive. What goes wrong later is told by Health.
func (l *Log) Join(ctx context.Context, m journal.Member) (journal.Membership, error) {
	counts := make(map[string]uint32, len(m.Methods))
	for t := range m.Methods {
		n, err := l.Count(ctx, t)
		if err != nil {
			return nil, err
		}
		counts[t] = n
	}
	address, err := l.lines.serve(ctx)
	if err != nil {
		return nil, err
	}
	joined, err := membership.Join(ctx, membership.Config{
		App: l.config.App, Brokers: l.config.Brokers, Sarama: l.roles.hardened,
		Member: m, Partitions: counts, Address: address, SuspectAfter: l.config.SuspectAfter, Session: l.config.Session,
		Beats: l.records, Observe: l.observe,
	})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	closed := l.closed
	l.joined = append(l.joined, joined)
	l.mu.Unlock()
	if closed {
		l.leave()
		return nil, fmt.Errorf("kafka: %w", journal.ErrClosed)
	}
	return joined, nil
}

// MemberEvent is something that happened to a membership, as this process knows
// of it.
type MemberEvent struct {
	// Kind is "joined", "removed", "suspected", "recovered", "evicted", "stopped",
	// "lease lost", "lease held", "eviction failed", "beat failed", "read failed",
	// "group failed" or "restored".
	Kind string
	// Instance is the member that it is about: its name, and what is new with
	// every start.
	Instance string
	// Reason is, of "evicted", "suspect" for one that fell silent and "ghost" for
	// one that was never heard; of "removed", what the group has answered; of
	// "restored", the kind of what has failed before.
	Reason string
	// Err is why something failed; nil for the rest.
	Err error
}

// observe tells what happens to a membership.
func (l *Log) observe(e membership.Event) {
	if e.Err != nil || e.Kind == membership.Restored { // the rest says nothing of what has failed
		cause := e.Kind.String()
		if e.Kind == membership.Restored {
			cause = e.Reason
		}
		l.vitals.note(vital{part: "membership", topic: l.config.topic(membersName), partition: noPartition, cause: cause}, e.Err)
	}
	if l.config.OnMember != nil {
		told := MemberEvent{Kind: e.Kind.String(), Instance: e.Instance, Reason: e.Reason, Err: e.Err}
		hook.Call(func() { l.config.OnMember(told) }) // it must not end this process's place among the members
	}
}

// leave ends the memberships that have not been left, for as long as the rest of
// Close may take.
func (l *Log) leave() {
	l.mu.Lock()
	joined := l.joined
	l.joined = nil
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	var all sync.WaitGroup
	for _, m := range joined {
		all.Go(func() { _ = m.Leave(ctx) }) // else the others find out
	}
	all.Wait()
}
