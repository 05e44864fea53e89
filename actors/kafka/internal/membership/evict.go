package membership

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// registry is the group as it is seen from outside.
type registry struct {
	group  string
	client sarama.Client // the admin's
	admin  sarama.ClusterAdmin
}

// newRegistry is over a client of its own.
func newRegistry(group string, c sarama.Client) (*registry, error) {
	admin, err := sarama.NewClusterAdminFromClient(c)
	if err != nil {
		return nil, fmt.Errorf("membership: %w", err)
	}
	return &registry{group: group, client: c, admin: admin}, nil
}

// list returns the instance ids of those that are in the group. After an error
// the coordinator is looked for anew: it may have moved, and listing, unlike
// removing, keeps to the one that it knows.
func (r *registry) list() ([]string, error) {
	all, err := r.describe()
	if err != nil {
		_ = r.client.RefreshCoordinator(r.group) // or the next time fails again
	}
	return all, err
}

func (r *registry) describe() ([]string, error) {
	groups, err := r.admin.DescribeConsumerGroups([]string{r.group})
	if err != nil {
		return nil, fmt.Errorf("membership: listing %s: %w", r.group, err)
	}
	var all []string
	for _, g := range groups {
		if g.Err != sarama.ErrNoError && g.Err != sarama.ErrGroupIDNotFound {
			return nil, fmt.Errorf("membership: listing %s: %w", r.group, g.Err)
		}
		for _, m := range g.Members {
			if m.GroupInstanceId != nil {
				all = append(all, *m.GroupInstanceId)
			}
		}
	}
	return all, nil
}

// remove removes members, and returns those that were in the group. The answer
// as a whole says nothing about any of them: each has an error of its own.
func (r *registry) remove(ids ...string) (gone []string, err error) {
	res, err := r.admin.RemoveMemberFromConsumerGroup(r.group, ids)
	if err != nil {
		return nil, fmt.Errorf("membership: removing %q from %s: %w", ids, r.group, err)
	}
	for _, m := range res.Members {
		switch {
		case m.GroupInstanceId == nil:
		case m.Err == sarama.ErrNoError:
			gone = append(gone, *m.GroupInstanceId)
		case m.Err != sarama.ErrUnknownMemberId && m.Err != sarama.ErrFencedInstancedId: // else it is gone already
			err = fmt.Errorf("membership: removing %s from %s: %w", *m.GroupInstanceId, r.group, m.Err)
		}
	}
	return gone, err
}

const (
	// apart is the time that removers leave to each other, for each of them.
	apart = 25 * time.Millisecond
	// apartMost bounds it in a large group, where somebody is quick.
	apartMost = 400 * time.Millisecond
	// sweepAgain is the wait before members that could not be removed are
	// looked at again.
	sweepAgain = 500 * time.Millisecond
)

// evict removes dead members from the group, until ctx ends.
func (m *Membership) evict(ctx context.Context) {
	again := time.NewTimer(0)
	again.Stop()
	for {
		select {
		case <-m.alarm:
		case <-again.C:
		case <-ctx.Done():
			return
		}
		if !m.giveWay(ctx) {
			return
		}
		if m.sweep(ctx) {
			again.Reset(sweepAgain)
		}
	}
}

// giveWay waits for a random time, the longer the more others there are who can
// remove. Removing twice does no harm.
func (m *Membership) giveWay(ctx context.Context) bool {
	m.mu.Lock()
	others := len(m.detector.others())
	m.mu.Unlock()
	if others == 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(rand.N(min(time.Duration(others)*apart, apartMost)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sweep looks at the group once, and reports whether it is to be looked at again.
func (m *Membership) sweep(ctx context.Context) bool {
	group, err := client.Within(ctx, m.registry.list)
	if err != nil {
		m.sweptWith(ctx, err)
		return true
	}
	dead, why := m.judge(group)
	if len(dead) == 0 {
		m.sweptWith(ctx, nil)
		return m.uneasy()
	}
	gone, err := client.Within(ctx, func() ([]string, error) { return m.registry.remove(dead...) })
	for _, id := range gone {
		m.report(Event{Kind: Evicted, Instance: id, Reason: why[id]})
	}
	m.sweptWith(ctx, err)
	m.group.hurry()
	return true // to forget them, once they are out
}

// sweptWith tells how it went, unless it was broken off.
func (m *Membership) sweptWith(ctx context.Context, err error) {
	if ctx.Err() == nil {
		m.sweeping.note(err)
	}
}

// What Event.Reason says of an eviction.
const (
	forSilence = "suspect"
	forAbsence = "ghost"
)

// judge returns those to be removed, and why.
func (m *Membership) judge(group []string) (dead []string, why map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.detector.forget(group)
	fresh := m.fresh(backstay.Now())
	m.swept = m.swept || m.detector.settled() && fresh
	dead, why = m.detector.condemned(group, fresh), make(map[string]string)
	for _, id := range dead {
		if why[id] = forSilence; m.detector.ghost(id) {
			why[id] = forAbsence
		}
	}
	return dead, why
}

// uneasy reports whether somebody is suspect still, or was not heard yet.
func (m *Membership) uneasy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.detector.suspects())+len(m.detector.unheard) > 0
}
