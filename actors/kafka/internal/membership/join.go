package membership

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// links are the connections, one set for each role: a coordinator that waits
// for others holds up whatever follows on its connection.
type links struct {
	group, registry sarama.Client
	producer        sarama.SyncProducer
}

// Join takes this process into the group, and returns when it has its share.
// ctx bounds that, not the membership. A group that was empty makes its first
// member wait for others: 3 s on a stock broker.
func Join(ctx context.Context, c Config) (*Membership, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, backstay.Under("membership", err)
	}
	m := newMembership(c)
	err := m.connect(ctx)
	if err != nil {
		m.links.close()
		return nil, err
	}
	stop, err := c.Beats(ctx, m.reader.take)
	if err != nil {
		m.links.close()
		return nil, fmt.Errorf("membership: reading %s: %w", c.members(), err)
	}
	m.start(context.WithoutCancel(ctx), stop)
	if err := m.settle(ctx); err != nil {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_ = m.Leave(gone) // as good as it gets without waiting
		return nil, err
	}
	return m, nil
}

func newMembership(c Config) *Membership {
	m := &Membership{
		config: c, self: newInstance(c.Member.Name),
		alarm: make(chan struct{}, 1), first: make(chan error, 1), tuned: make(chan struct{}), changed: make(chan struct{}), answered: make(chan struct{}),
		lease: lease{length: c.Session, gap: c.Session / 2},
	}
	m.detector = newDetector(m.self, c.SuspectAfter)
	m.pauses.gap = m.lease.gap
	m.asking, m.sweeping = m.trouble(GroupFailed), m.trouble(EvictionFailed)
	m.leave.done = make(chan struct{})
	return m
}

// connect opens the connections.
func (m *Membership) connect(ctx context.Context) error {
	l, c := &m.links, &m.config
	var err error
	if l.producer, err = dial(ctx, c, beatConfig(c.Sarama), sarama.NewSyncProducer); err != nil {
		return err
	}
	if l.group, err = dial(ctx, c, groupConfig(c), sarama.NewClient); err != nil {
		return err
	}
	if l.registry, err = dial(ctx, c, client.Admin(c.Sarama), sarama.NewClient); err != nil {
		return err
	}
	if m.registry, err = client.Within(ctx, func() (*registry, error) { return newRegistry(c.group(), l.registry) }); err != nil {
		return err
	}
	m.writer = &writer{topic: c.members(), producer: l.producer, poke: make(chan struct{}, 1), trouble: m.trouble(BeatFailed)}
	m.group = &group{config: c, client: l.group, on: m, poke: make(chan struct{}, 1)}
	m.reader = &reader{written: m.writer.next.Load, heard: m.hear, trouble: m.trouble(ReadFailed)}
	return nil
}

func (m *Membership) trouble(k Kind) trouble {
	return trouble{tell: func(err error) {
		if err == nil {
			m.report(Event{Kind: Restored, Reason: k.String(), Instance: m.instance()})
			return
		}
		m.report(Event{Kind: k, Instance: m.instance(), Err: err})
	}}
}

// start runs all that beats and listens, and joins the group.
func (m *Membership) start(ctx context.Context, stop func()) {
	ctx, m.cancel = context.WithCancel(ctx)
	m.running.Go(func() { m.reader.watch(ctx, stop) })
	m.running.Go(func() { m.writer.run(ctx, m.due) })
	m.running.Go(func() { m.evict(ctx) })
	m.running.Go(func() { m.watch(ctx) })
	m.running.Go(func() { m.group.run(ctx) })
}

// settle waits for the first share.
func (m *Membership) settle(ctx context.Context) error {
	select {
	case err := <-m.first:
		if err != nil {
			return fmt.Errorf("membership: joining %s: %w", m.config.group(), err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("membership: joining %s: %w", m.config.group(), context.Cause(ctx))
	}
}

// dial opens connections. sarama knows no context: what opens too late is closed.
func dial[T interface{ Close() error }](ctx context.Context, c *Config, s *sarama.Config, open func([]string, *sarama.Config) (T, error)) (T, error) {
	opened, err := client.Within(ctx, func() (T, error) {
		x, err := open(c.Brokers, s)
		if err == nil && ctx.Err() != nil {
			_ = x.Close()
		}
		return x, err
	})
	if err != nil {
		return opened, fmt.Errorf("membership: connecting to %v: %w", c.Brokers, err)
	}
	return opened, nil
}

// beatConfig is for beats: one that is lost is followed by another.
func beatConfig(hardened *sarama.Config) *sarama.Config {
	c := client.Producer(hardened)
	c.Producer.RequiredAcks = sarama.WaitForLocal
	c.Producer.Idempotent = false
	c.Producer.Retry.Max = beatRetries
	c.Metadata.Retry.Max = beatRetries
	return c
}

// beatRetries are those of one beat, 50 ms apart.
const beatRetries = 4

func groupConfig(c *Config) *sarama.Config {
	s := client.Group(c.Sarama)
	s.Net.ReadTimeout = joinTime(c.Session)
	s.Metadata.Retry.Max = beatRetries
	return s
}

// close closes what was opened, without waiting for it: a request that is under
// way holds its connection until it is answered.
func (l *links) close() {
	closing := []interface{ Close() error }{}
	if l.producer != nil {
		closing = append(closing, l.producer)
	}
	if l.group != nil {
		closing = append(closing, l.group)
	}
	if l.registry != nil {
		closing = append(closing, l.registry)
	}
	go func() {
		for _, c := range closing {
			_ = c.Close()
		}
	}()
}
