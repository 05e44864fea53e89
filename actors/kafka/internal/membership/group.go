package membership

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// group is the place of this process in the consumer group: it speaks the
// group's protocol, as a static member, and nothing else. What it owns stays
// its own while the group rebalances. One goroutine runs it.
type group struct {
	config *Config
	client sarama.Client
	on     keeper

	member     string // id given by the coordinator
	generation int32
	owned      []journal.Partition
	joined     bool
	failures   int

	hasty atomic.Int64 // until this Instant heartbeats are frequent
	poke  chan struct{}
}

// keeper is told what the group says.
type keeper interface {
	// instance is the instance id to join with.
	instance() string
	// granted: these are this process's partitions, as of when it asked.
	granted(all []journal.Partition, asked backstay.Instant)
	// confirmed: it is a member still.
	confirmed(asked backstay.Instant)
	// removed: it is none any more, and is to have another instance id.
	removed(why error)
	// audible waits until the members can hear the instance.
	audible(ctx context.Context) error
	// asked: the group answered, or it could not be asked.
	asked(err error)
}

// run is the loop, until ctx ends.
func (g *group) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := g.step(ctx)
		if ctx.Err() != nil {
			return
		}
		g.sleep(ctx, g.react(err))
	}
}

func (g *group) step(ctx context.Context) error {
	if g.joined {
		return g.heartbeat(ctx)
	}
	if err := g.on.audible(ctx); err != nil {
		return err
	}
	return g.join(ctx)
}

// react takes in how a step went, and says how long to wait for the next.
func (g *group) react(err error) time.Duration {
	if err == nil {
		g.failures = 0
		g.on.asked(nil)
		return g.interval()
	}
	g.failures++
	switch verdictOn(err) {
	case rejoin:
		g.joined = false
	case reborn:
		g.joined, g.member, g.owned, g.generation = false, "", nil, 0
		g.on.removed(err)
	case elsewhere:
		g.on.asked(err)
		_ = g.client.RefreshCoordinator(g.config.group()) // or the next step fails again
		return g.backoff()
	}
	if g.failures <= atOnce {
		return 0
	}
	return g.backoff()
}

// atOnce is how often in a row a step is repeated without a wait: a rebalance
// may begin while one ends.
const atOnce = 3

const (
	firstBackoff = 50 * time.Millisecond
	lastBackoff  = time.Second
)

func (g *group) backoff() time.Duration {
	return min(time.Duration(g.failures)*firstBackoff, lastBackoff)
}

// hurryFor is how long a change of the group may take to show.
const hurryFor = 2 * time.Second

// hurry has the next heartbeats follow soon: the group is about to change, and
// tells so in its answers to heartbeats only.
func (g *group) hurry() {
	g.hasty.Store(int64(backstay.Now().Add(hurryFor)))
	select {
	case g.poke <- struct{}{}:
	default: // it is poked already
	}
}

// hurried is by how much heartbeats are more frequent then.
const hurried = 4

func (g *group) interval() time.Duration {
	if backstay.Now() < backstay.Instant(g.hasty.Load()) {
		return g.config.Heartbeat / hurried
	}
	return g.config.Heartbeat
}

func (g *group) sleep(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-g.poke:
	case <-ctx.Done():
	}
}

// verdict is what an error means for a member.
type verdict int

const (
	elsewhere verdict = iota // ask again, perhaps another coordinator
	rejoin                   // the group rebalances
	reborn                   // the group knows this member no more
)

func verdictOn(err error) verdict {
	switch {
	case errors.Is(err, sarama.ErrRebalanceInProgress), errors.Is(err, sarama.ErrIllegalGeneration), errors.Is(err, sarama.ErrMemberIdRequired):
		return rejoin
	case errors.Is(err, sarama.ErrUnknownMemberId), errors.Is(err, sarama.ErrFencedInstancedId):
		return reborn
	default:
		return elsewhere
	}
}

// hopeless reports whether a first attempt to join need not be repeated: a
// person has to mend something.
func hopeless(err error) bool {
	for _, e := range []sarama.KError{
		sarama.ErrGroupAuthorizationFailed, sarama.ErrTopicAuthorizationFailed, sarama.ErrClusterAuthorizationFailed,
		sarama.ErrInconsistentGroupProtocol, sarama.ErrInvalidSessionTimeout, sarama.ErrInvalidGroupId,
		sarama.ErrGroupMaxSizeReached, sarama.ErrUnsupportedVersion,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
