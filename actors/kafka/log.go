package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
	"github.com/backstay-go/backstay/actors/kafka/internal/membership"
)

// Log is a [journal.Log] on Kafka. It is safe for concurrent use.
type Log struct {
	config Config
	roles  roles
	vitals vitals
	ctx    context.Context //nolint:containedctx // that of its life
	end    context.CancelFunc
	work   sync.WaitGroup

	client    sarama.Client // for reading, and to find leaders
	appender  *producer     // logs and answers
	publisher *producer     // everything that must not hold those up
	fetcher   *fetcher
	beats     *fetcher // of beats alone: they come so often that others would be fetched too often with them
	desk      *desk    // topics: what they are like
	router    router
	egress    *egress // of what is published exactly once
	states    states
	listeners *listeners
	lines     *lines // nil: all answers go over the topic
	replies   replies

	pending pending // appends to types that were not looked at

	mu     sync.RWMutex
	counts map[string]uint32 // of types that were looked at
	joined []*membership.Membership
	closed bool
}

var _ journal.Log = (*Log)(nil)

// roles are the configurations of connections.
type roles struct {
	hardened, appender, consumer, admin *sarama.Config
}

func rolesOf(c *sarama.Config) (roles, error) {
	hardened, err := client.Harden(c)
	if err != nil {
		return roles{}, err
	}
	return roles{hardened: hardened, appender: client.Appender(hardened), consumer: client.Consumer(hardened), admin: client.Admin(hardened)}, nil
}

// Open connects to the brokers and looks at the topics of c.Types and those that
// all types share; what is not as it must be is an error that matches
// [ErrTopics] and says all of it. ctx bounds the opening.
func Open(ctx context.Context, c Config) (*Log, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	l := &Log{config: c.withDefaults(), counts: make(map[string]uint32)}
	l.ctx, l.end = context.WithCancel(context.Background())
	l.listeners = newListeners()
	l.states.byPartition = make(map[journal.Partition]*state)
	l.egress = newEgress(l.config.ExactlyOnce, l.courier)
	opened := make(chan error, 1)
	go func() { opened <- l.begin(ctx) }()
	select {
	case err := <-opened:
		if err != nil {
			return nil, err
		}
		return l, nil
	case <-ctx.Done():
		go func() { // sarama's own timeouts end it
			if <-opened == nil {
				l.disconnect()
			}
		}()
		return nil, fmt.Errorf("kafka: %w", context.Cause(ctx))
	}
}

// begin connects and looks at the topics, or leaves nothing.
func (l *Log) begin(ctx context.Context) error {
	err := l.connect()
	if err == nil {
		err = l.inspect(ctx)
	}
	if err != nil {
		l.disconnect()
		return err
	}
	l.work.Go(l.watch)
	return nil
}

// connect opens the connections of all roles.
func (l *Log) connect() (err error) {
	if l.roles, err = rolesOf(l.config.Sarama); err != nil {
		return err
	}
	if l.desk, err = newDesk(&l.config, l.roles.admin); err != nil {
		return err
	}
	if l.client, err = sarama.NewClient(l.config.Brokers, l.roles.consumer); err != nil {
		return explain("connecting", err)
	}
	if l.appender, err = newProducer("append", l.config.Brokers, l.roles.appender, l.config.QueueBytes, &l.vitals); err != nil {
		return err
	}
	if l.publisher, err = newProducer("publish", l.config.Brokers, l.roles.appender, l.config.QueueBytes, &l.vitals); err != nil {
		return err
	}
	l.router = router{client: l.client, missed: make(map[string]miss)}
	l.fetcher, l.beats = newFetcher(l), newFetcher(l)
	l.fetcher.appender, l.appender.after = l.appender, l.fetcher.hear
	l.lines = newLines(l)
	return nil
}

// inspect looks at the topics that are known from the beginning.
func (l *Log) inspect(ctx context.Context) error {
	shared, err := l.desk.check(ctx, atOpen, l.config.shared()...)
	all := []error{err}
	if replies := shared[l.config.topic(repliesName)]; replies != nil {
		l.replies.partitions.Store(int32(replies.partitions)) //nolint:gosec // a count
	}
	for _, t := range slices.Sorted(maps.Keys(l.config.Types)) {
		_, err := l.Count(ctx, t)
		all = append(all, err)
	}
	return errors.Join(all...)
}

// Close gives everything back: memberships that were not left, and connections.
// Appends that the brokers have not answered within 3 s end with
// [journal.ErrClosed].
func (l *Log) Close() error {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if !again {
		l.leave()
		l.disconnect()
	}
	return nil
}

func (l *Log) disconnect() {
	l.lines.hangUp() // what is on its way goes over the topic
	var producers sync.WaitGroup
	for _, p := range []*producer{l.appender, l.publisher} {
		if p != nil {
			producers.Go(p.close)
		}
	}
	producers.Wait()
	l.end()
	for _, f := range []*fetcher{l.fetcher, l.beats} {
		if f != nil {
			f.close()
		}
	}
	if l.client != nil {
		_ = l.client.Close() // it was only read from
	}
	if l.desk != nil {
		l.desk.close()
	}
	l.work.Wait()
}

// open reports whether there is such a partition, of a Log that is open.
func (l *Log) open(ctx context.Context, p journal.Partition) error {
	n, err := l.Count(ctx, p.Type)
	if err != nil {
		return err
	}
	return within(p, n)
}

// within reports whether there is such a partition, of n.
func within(p journal.Partition, n uint32) error {
	if p.Index >= n {
		return fmt.Errorf("kafka: %v of %d partitions: %w", p, n, journal.ErrNoType)
	}
	return nil
}

// known is the number of partitions of a type that was looked at. Its error
// matches [journal.ErrClosed].
func (l *Log) known(actorType string) (n uint32, known bool, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return 0, false, fmt.Errorf("kafka: %w", journal.ErrClosed)
	}
	n, known = l.counts[actorType]
	return n, known, nil
}

// Count is the number of partitions of a type. The first time it looks at the
// type's topics; its error matches [journal.ErrNoType] if there is no log, and
// [ErrTopics] if something about them is not as it must be.
func (l *Log) Count(ctx context.Context, actorType string) (uint32, error) {
	n, known, err := l.known(actorType)
	switch {
	case err != nil || known:
		return n, err
	case !validType.MatchString(actorType) || taken[actorType]:
		return 0, fmt.Errorf("kafka: %q: %w", actorType, journal.ErrNoType)
	}
	n, err = l.desk.count(ctx, actorType)
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	l.counts[actorType] = n
	l.mu.Unlock()
	return n, nil
}
