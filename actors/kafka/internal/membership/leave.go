package membership

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// leaving is the end of a membership, for all who ask for it.
type leaving struct {
	begun atomic.Bool
	done  chan struct{}
	err   error
}

// Leave gives the partitions up at once, and removes this process from the
// group, so that the others need not find out: sarama and Kafka keep the place
// of a static member that only goes away. It waits until the group knows, for as
// long as ctx allows; the connections are given back in any case. After an error
// the others find out. Further calls wait for the first, as
// long as their own ctx allows.
func (m *Membership) Leave(ctx context.Context) error {
	if m.leave.begun.CompareAndSwap(false, true) {
		m.leave.err = m.quit(ctx)
		close(m.leave.done)
		return m.leave.err
	}
	select {
	case <-m.leave.done:
		return m.leave.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Membership) quit(ctx context.Context) error {
	defer m.links.close()
	m.update(func() { m.left = true })
	m.cancel()
	err := m.remove(ctx) // also ends a request to join, which waits for others
	_, waited := client.Within(ctx, func() (struct{}, error) { m.running.Wait(); return struct{}{}, nil })
	if err == nil && waited == nil {
		err = m.remove(ctx) // it may have joined just then
	}
	if err != nil {
		return err
	}
	_ = m.writer.write(ctx, m.farewell(m.instance())) // spares the others a suspicion
	return nil
}

// remove removes this process. It tries some times: a connection on which nothing
// was asked for long may have gone with its broker, which is seen by asking; so may
// that to the broker which then coordinates the group.
func (m *Membership) remove(ctx context.Context) (err error) {
	const tries = 4
	for range tries {
		_, err = client.Within(ctx, func() ([]string, error) { return m.registry.remove(m.instance()) })
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("membership: leaving: %w", err)
}
