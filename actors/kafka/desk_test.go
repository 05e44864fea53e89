package kafka

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// cluster is an admin's view of topics in memory.
type cluster struct {
	admin

	mu     sync.Mutex
	topics map[string]*sarama.TopicDetail
	late   int // so many looks do not see any of them
	refuse error
	moved  bool // the leaders that are known are those of before
}

func (c *cluster) DeleteRecords(string, map[int32]int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moved {
		return sarama.Wrap(sarama.ErrDeleteRecords, sarama.ErrNotLeaderForPartition)
	}
	return nil
}

func (c *cluster) RefreshMetadata(...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = false
	return nil
}

func (c *cluster) CreateTopic(name string, d *sarama.TopicDetail, _ bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		return c.refuse
	}
	if c.topics[name] != nil {
		return &sarama.TopicError{Err: sarama.ErrTopicAlreadyExists}
	}
	c.topics[name] = d
	return nil
}

func (c *cluster) DescribeTopics(names []string) (all []*sarama.TopicMetadata, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late--
	for _, name := range names {
		m := &sarama.TopicMetadata{Name: name, Err: sarama.ErrUnknownTopicOrPartition}
		if d := c.topics[name]; d != nil && c.late < 0 {
			m.Err, m.Partitions = sarama.ErrNoError, make([]*sarama.PartitionMetadata, d.NumPartitions)
		}
		all = append(all, m)
	}
	return all, nil
}

func (c *cluster) DescribeConfigs(resources []*sarama.ConfigResource, _ sarama.DescribeConfigsOptions) (all []*sarama.ConfigResourceResult, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range resources {
		result := &sarama.ConfigResourceResult{Name: r.Name}
		for name, value := range c.topics[r.Name].ConfigEntries {
			result.Configs = append(result.Configs, sarama.ConfigEntry{Name: name, Value: *value})
		}
		all = append(all, result)
	}
	return all, nil
}

// set changes a setting of a topic.
func (c *cluster) set(topic, name, value string) { c.topics[topic].ConfigEntries[name] = &value }

func newCluster(c Config) (*cluster, *desk) {
	c = c.withDefaults()
	on := &cluster{topics: make(map[string]*sarama.TopicDetail)}
	return on, &desk{config: &c, admin: on, leaders: on}
}

func TestSetupMakesEveryTopicWithItsSettings(t *testing.T) {
	on, d := newCluster(Config{App: "bank", Types: map[string]uint32{"account": 4, "branch": 0}})
	if err := d.setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]int32{
		"bank.members": 1, "bank.replies": 8, "bank.dead": 1,
		"bank.account": 4, "bank.account.state": 4,
		"bank.branch": 16, "bank.branch.state": 16,
	}
	for name, n := range want {
		made := on.topics[name]
		if made == nil || made.NumPartitions != n || made.ReplicationFactor != 3 {
			t.Errorf("%s: %+v, want %d partitions", name, made, n)
		}
	}
	if len(on.topics) != len(want) {
		t.Errorf("topics %v", slices.Sorted(maps.Keys(on.topics)))
	}
	for name, value := range map[string]string{
		"message.timestamp.type": "LogAppendTime", "retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete",
		"min.insync.replicas": "2", "unclean.leader.election.enable": "false",
	} {
		if is := on.topics["bank.account"].ConfigEntries[name]; is == nil || *is != value {
			t.Errorf("%s of the log is not %s", name, value)
		}
	}
	if is := *on.topics["bank.account.state"].ConfigEntries["cleanup.policy"]; is != "compact" {
		t.Errorf("states have cleanup.policy %s", is)
	}
	if err := d.setup(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestSetupWaitsUntilBrokersKnowWhatItMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on, d := newCluster(Config{App: "bank", Types: map[string]uint32{"account": 4}})
		on.late = 20
		if err := d.setup(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestSetupSaysWhatItMayNotDo(t *testing.T) {
	on, d := newCluster(Config{App: "bank"})
	on.refuse = &sarama.TopicError{Err: sarama.ErrClusterAuthorizationFailed}
	if err := d.setup(t.Context()); !errors.Is(err, sarama.ErrClusterAuthorizationFailed) || !strings.Contains(err.Error(), "bank.members") || !strings.Contains(err.Error(), "permission") {
		t.Error(err)
	}
}

func TestEveryMismatchIsToldWithHowToMendIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on, d := newCluster(Config{App: "bank", Types: map[string]uint32{"account": 4}})
		if err := d.setup(t.Context()); err != nil {
			t.Fatal(err)
		}
		on.set("bank.account", "retention.ms", "604800000")
		on.set("bank.account", "message.timestamp.type", "CreateTime")
		on.set("bank.account", "max.message.bytes", "1000")
		on.set("bank.account.state", "cleanup.policy", "delete")
		on.set("bank.account.state", "min.insync.replicas", "3") // more is better
		on.topics["bank.account.state"].NumPartitions = 5
		delete(on.topics, "bank.members")

		err := d.setup(t.Context())
		_, shared := d.check(t.Context(), 1, d.config.shared()...)
		if shared != nil {
			t.Errorf("what was missing was not made: %v", shared)
		}
		for _, want := range []string{
			`topic bank.account: retention.ms is "604800000", must be "-1"`,
			`--add-config retention.ms=-1`,
			`topic bank.account: message.timestamp.type is "CreateTime", must be "LogAppendTime"`,
			`topic bank.account: max.message.bytes is "1000", must be 1048576 or more`,
			`topic bank.account.state: cleanup.policy is "delete", must be "compact"`,
			`topic bank.account.state: partitions is 5, must be 4`,
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("it does not say %s", want)
			}
		}
		if !errors.Is(err, ErrTopics) || strings.Contains(err.Error(), "min.insync") {
			t.Error(err)
		}
	})
}

func TestTheNumberOfPartitionsIsThatOfTheLogWhereNoneIsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, d := newCluster(Config{App: "bank", Types: map[string]uint32{"account": 4}})
		if _, err := d.count(t.Context(), "account"); !errors.Is(err, ErrTopics) {
			t.Errorf("before Setup: %v", err)
		}
		if err := d.setup(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.config.Types = nil
		if n, err := d.count(t.Context(), "account"); n != 4 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := d.count(t.Context(), "unknown"); !errors.Is(err, journal.ErrNoType) || !strings.Contains(err.Error(), "bank.unknown") {
			t.Errorf("a type without a log: %v", err)
		}
		d.config.Types = map[string]uint32{"account": 5}
		if _, err := d.count(t.Context(), "account"); !errors.Is(err, ErrTopics) || !strings.Contains(err.Error(), "fixed for ever") {
			t.Errorf("another number: %v", err)
		}
	})
}

// Whoever has made it has asked another broker. Without a number, a type that is
// configured has that of its log as well.
func TestATypeWhoseTopicsWereJustMadeIsFound(t *testing.T) {
	for name, types := range map[string]map[string]uint32{"not configured": nil, "configured": {"account": 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				there, d := newCluster(Config{App: "bank", Types: map[string]uint32{"account": 4}})
				if err := d.setup(t.Context()); err != nil {
					t.Fatal(err)
				}
				d.config.Types = types
				there.late = atOpen - 1
				if n, err := d.count(t.Context(), "account"); n != 4 || err != nil {
					t.Errorf("%d, %v", n, err)
				}
			})
		})
	}
}

// Both at once, so that it is either there with its number or an error.
func TestTheTopicsOfATypeAreWaitedForOnce(t *testing.T) {
	for name, types := range map[string]map[string]uint32{"not configured": nil, "configured": {"account": 0}, "with a number": {"account": 4}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				there, d := newCluster(Config{App: "bank", Types: map[string]uint32{"account": 4}})
				if err := d.setup(t.Context()); err != nil {
					t.Fatal(err)
				}
				d.config.Types = types
				there.late = atOpen
				began := time.Now()
				if _, err := d.count(t.Context(), "account"); err == nil {
					t.Error("it was found after so many looks as do not see it")
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestRecordsAreDeletedWhereTheLeaderHasMovedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on, d := newCluster(Config{App: "bank"})
		on.moved = true
		if err := d.truncate(t.Context(), "bank.account", 0, 7); err != nil {
			t.Error(err)
		}
	})
}
