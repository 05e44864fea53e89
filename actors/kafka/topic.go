package kafka

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// The topics of an application.
const (
	stateSuffix = ".state" // what the log of a type has, for its snapshots
	membersName = "members"
	repliesName = "replies"
	deadName    = "dead"
)

func (c *Config) topic(name string) string { return c.App + "." + name }

// topic is what one topic must be like.
type topic struct {
	name       string
	partitions uint32 // 0: any number
	settings   []setting
	// initial are given to a topic when it is made, and anybody's business
	// afterwards.
	initial map[string]string
}

// setting is one that a topic must have.
type setting struct {
	name, value string
	why         string
	// least: a number that may be larger
	least bool
}

// Names of a topic's settings.
const (
	cleanup       = "cleanup.policy"
	timestamps    = "message.timestamp.type"
	retentionTime = "retention.ms"
	retentionSize = "retention.bytes"
	inSync        = "min.insync.replicas"
	unclean       = "unclean.leader.election.enable"
	largest       = "max.message.bytes"
	segmentSize   = "segment.bytes"
	segmentTime   = "segment.ms"
	tombstones    = "delete.retention.ms"
	dirtyRatio    = "min.cleanable.dirty.ratio"
)

// shared are the topics that do not belong to a type.
func (c *Config) shared() []topic {
	return []topic{
		{name: c.topic(membersName), partitions: 1, settings: c.clocked(), initial: kept(10 * time.Minute)},
		{name: c.topic(repliesName), settings: c.sized(), initial: kept(c.ReplyRetention)},
		{name: c.topic(deadName), settings: c.sized(), initial: kept(c.DeadRetention)},
	}
}

// ofType are the topics of a type of actors.
func (c *Config) ofType(name string, partitions uint32) []topic {
	log := c.topic(name)
	return []topic{
		{name: log, partitions: partitions, settings: c.logged(), initial: map[string]string{segmentSize: "67108864"}},
		{name: log + stateSuffix, partitions: partitions, settings: c.compacted(), initial: map[string]string{
			segmentSize: "67108864", segmentTime: millis(time.Hour), tombstones: millis(time.Hour), dirtyRatio: "0.3",
		}},
	}
}

// safe are the settings without which an acknowledged record can be lost.
func (c *Config) safe() []setting {
	return append(c.sized(),
		setting{name: inSync, value: strconv.Itoa(c.MinInSync), least: true, why: "a record must not be lost with one broker"},
		setting{name: unclean, value: "false", why: "a broker that missed records must not become the leader"})
}

// sized: the producer fills batches up to its own bound.
func (c *Config) sized() []setting {
	return []setting{{name: largest, value: strconv.Itoa(c.largest()), least: true, why: "batches of small records would be refused"}}
}

func (c *Config) clocked() []setting {
	return append(c.sized(), setting{name: timestamps, value: "LogAppendTime", why: "time is that of the log"})
}

func (c *Config) logged() []setting {
	return append(append(c.safe(), c.clocked()[1:]...),
		setting{name: cleanup, value: "delete", why: "every record counts, whatever its key"},
		setting{name: retentionTime, value: "-1", why: "snapshots say what is not needed any more"},
		setting{name: retentionSize, value: "-1", why: "snapshots say what is not needed any more"})
}

func (c *Config) compacted() []setting {
	return append(c.safe(), setting{name: cleanup, value: "compact", why: "snapshots are kept by their keys"})
}

// initially are all settings that a new topic is made with.
func (t *topic) initially() map[string]*string {
	all := maps.Clone(t.initial)
	if all == nil {
		all = make(map[string]string)
	}
	for _, s := range t.settings {
		all[s.name] = s.value
	}
	entries := make(map[string]*string, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		entries[name] = &value
	}
	return entries
}

func kept(d time.Duration) map[string]string {
	return map[string]string{cleanup: "delete", retentionTime: millis(d), segmentTime: millis(max(d/4, time.Minute))}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
