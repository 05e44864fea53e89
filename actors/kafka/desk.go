package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// desk is where topics are looked at, made, and cut off.
type desk struct {
	config  *Config
	admin   admin
	leaders leaders // as the admin knows them
}

// leaders are looked for anew on demand: an admin asks those that it knows.
type leaders interface {
	RefreshMetadata(topics ...string) error
}

// admin is what is needed of sarama's ClusterAdmin.
type admin interface {
	DescribeTopics(topics []string) ([]*sarama.TopicMetadata, error)
	DescribeConfigs(resources []*sarama.ConfigResource, options sarama.DescribeConfigsOptions) ([]*sarama.ConfigResourceResult, error)
	CreateTopic(topic string, detail *sarama.TopicDetail, validateOnly bool) error
	DeleteRecords(topic string, partitionOffsets map[int32]int64) error
	Close() error
}

func newDesk(c *Config, conf *sarama.Config) (*desk, error) {
	client, err := sarama.NewClient(c.Brokers, conf)
	if err != nil {
		return nil, explain(fmt.Sprintf("connecting to %v", c.Brokers), err)
	}
	a, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		_ = client.Close() // it has nothing under way
		return nil, explain(fmt.Sprintf("connecting to %v", c.Brokers), err)
	}
	return &desk{config: c, admin: a, leaders: client}, nil
}

func (d *desk) close() { _ = d.admin.Close() } // it has nothing under way

// look returns what topics are like; those that do not exist are missing.
func (d *desk) look(ctx context.Context, names ...string) (map[string]*found, error) {
	all, err := again(ctx, "looking at topics", func() (map[string]*found, error) { return d.glance(names) })
	if err != nil || len(all) == 0 {
		return all, err
	}
	return all, d.read(ctx, all)
}

// glance is look without the settings.
func (d *desk) glance(names []string) (map[string]*found, error) {
	described, err := d.admin.DescribeTopics(names)
	if err != nil {
		return nil, err
	}
	all := make(map[string]*found)
	for _, t := range described {
		switch {
		case errors.Is(t.Err, sarama.ErrUnknownTopicOrPartition):
		case t.Err != sarama.ErrNoError && t.Err != sarama.ErrLeaderNotAvailable:
			return nil, fmt.Errorf("topic %s: %w", t.Name, t.Err)
		default:
			all[t.Name] = &found{partitions: uint32(len(t.Partitions)), settings: make(map[string]string)} //nolint:gosec // a count
		}
	}
	return all, nil
}

// read reads the settings of topics.
func (d *desk) read(ctx context.Context, all map[string]*found) error {
	var resources []*sarama.ConfigResource
	for name := range all {
		resources = append(resources, &sarama.ConfigResource{Type: sarama.TopicResource, Name: name})
	}
	results, err := again(ctx, "reading the settings of topics", func() ([]*sarama.ConfigResourceResult, error) {
		results, err := d.admin.DescribeConfigs(resources, sarama.DescribeConfigsOptions{})
		for _, r := range results {
			if r.ErrorCode != sarama.ErrNoError && err == nil {
				err = fmt.Errorf("topic %s: %w", r.Name, r.ErrorCode)
			}
		}
		return results, err
	})
	for _, r := range results {
		for _, c := range r.Configs {
			if have := all[r.Name]; have != nil {
				have.settings[c.Name] = c.Value
			}
		}
	}
	return err
}

// check returns what topics are like, and everything that is wrong with them.
func (d *desk) check(ctx context.Context, times int, topics ...topic) (map[string]*found, error) {
	have, err := d.find(ctx, times, topics)
	if err != nil {
		return nil, err
	}
	return have, compareAll(topics, have)
}

func compareAll(topics []topic, have map[string]*found) error {
	var all []error
	for _, t := range topics {
		all = append(all, t.compare(have[t.name]))
	}
	return errors.Join(all...)
}

// find looks for topics, and some more times for those that are missing: what was
// just made is not known to every broker at once.
func (d *desk) find(ctx context.Context, times int, topics []topic) (map[string]*found, error) {
	names := namesOf(topics)
	have, err := d.look(ctx, names...)
	for ; err == nil && len(have) < len(names) && times > 1; times-- {
		const pause = 200 * time.Millisecond
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		have, err = d.look(ctx, names...)
	}
	return have, err
}

// atOpen is how often a topic is looked for that is missing.
const atOpen = 6

// count looks at the topics of a type, and returns how many partitions it has:
// those that are configured, or those that its log has. Where there is no log the
// error matches [journal.ErrNoType], unless the type is configured.
func (d *desk) count(ctx context.Context, actorType string) (uint32, error) {
	n, configured := d.config.Types[actorType]
	topics := d.config.ofType(actorType, n)
	have, err := d.find(ctx, atOpen, topics)
	if err != nil {
		return 0, err
	}
	log := d.config.topic(actorType)
	switch there := have[log]; {
	case there == nil && !configured:
		return 0, fmt.Errorf("kafka: %q: %w: there is no topic %s; run kafka.Setup with this type", actorType, journal.ErrNoType, log)
	case there != nil && n == 0:
		n = there.partitions
		topics = d.config.ofType(actorType, n) // its snapshots have as many
	}
	return n, compareAll(topics, have)
}

// truncate deletes the records below an offset.
func (d *desk) truncate(ctx context.Context, topic string, partition int32, below int64) error {
	_, err := again(ctx, fmt.Sprintf("truncating %s, partition %d", topic, partition), func() (struct{}, error) {
		err := d.admin.DeleteRecords(topic, map[int32]int64{partition: below})
		if err != nil {
			_ = d.leaders.RefreshMetadata(topic) // the next try says what is wrong
		}
		return struct{}{}, err
	})
	return err
}

func namesOf(topics []topic) []string {
	names := make([]string, len(topics))
	for i := range topics {
		names[i] = topics[i].name
	}
	slices.Sort(names)
	return names
}
