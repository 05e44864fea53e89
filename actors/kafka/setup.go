package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

// Setup makes the topics of an application that do not exist: those that all
// types share, and those of c.Types and types. It changes none that exists; what
// is wrong with those is an error that matches [ErrTopics] and says all of it.
// Processes may run it at the same time, also at every start.
func Setup(ctx context.Context, c Config, types ...string) error {
	c.Types = withTypes(c.Types, types)
	if err := c.Validate(); err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	c = c.withDefaults()
	r, err := rolesOf(c.Sarama)
	if err != nil {
		return err
	}
	d, err := newDesk(&c, r.admin)
	if err != nil {
		return err
	}
	defer d.close()
	return d.setup(ctx)
}

func withTypes(configured map[string]uint32, more []string) map[string]uint32 {
	all := maps.Clone(configured)
	if all == nil {
		all = make(map[string]uint32, len(more))
	}
	for _, t := range more {
		all[t] = configured[t]
	}
	return all
}

func (d *desk) setup(ctx context.Context) error {
	topics := d.config.shared()
	for _, t := range slices.Sorted(maps.Keys(d.config.Types)) {
		topics = append(topics, d.config.ofType(t, d.config.Types[t])...)
	}
	have, err := d.look(ctx, namesOf(topics)...)
	if err != nil {
		return err
	}
	var all []error
	for _, t := range topics {
		if have[t.name] == nil {
			all = append(all, d.make(ctx, t))
		} else {
			all = append(all, t.compare(have[t.name]))
		}
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	return d.await(ctx, topics)
}

// await waits until topics are seen: a broker hears of those that were made a
// little later than the one that made them.
func (d *desk) await(ctx context.Context, topics []topic) error {
	const often = 50 * time.Millisecond
	for {
		have, err := d.look(ctx, namesOf(topics)...)
		if err != nil || len(have) == len(topics) {
			return err
		}
		select {
		case <-time.After(often):
		case <-ctx.Done():
			return fmt.Errorf("kafka: waiting for topics that were made: %w", context.Cause(ctx))
		}
	}
}

// make makes a topic. Somebody else may do so at the same time.
func (d *desk) make(ctx context.Context, t topic) error {
	detail := &sarama.TopicDetail{
		NumPartitions: int32(d.partitionsOf(t)), ReplicationFactor: d.config.Replication, ConfigEntries: t.initially(), //nolint:gosec // at most 10,000
	}
	_, err := again(ctx, "making topic "+t.name, func() (struct{}, error) {
		err := d.admin.CreateTopic(t.name, detail, false)
		if errors.Is(err, sarama.ErrTopicAlreadyExists) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// partitionsOf is how many a new topic gets.
func (d *desk) partitionsOf(t topic) uint32 {
	switch {
	case t.partitions != 0:
		return t.partitions
	case t.name == d.config.topic(repliesName):
		return d.config.ReplyPartitions
	case t.name == d.config.topic(deadName):
		return 1
	default:
		return d.config.Partitions
	}
}
