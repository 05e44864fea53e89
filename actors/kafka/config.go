package kafka

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// The defaults of a [Config].
const (
	DefaultPartitions      = 16
	DefaultReplication     = 3
	DefaultReplyPartitions = 8
	DefaultReplyRetention  = 10 * time.Minute
	DefaultDeadRetention   = 30 * 24 * time.Hour
	DefaultQueueBytes      = 64 << 20
	DefaultReadBytes       = 8 << 20
)

// Config is that of a [Log], and of [Setup]. It is the same in all processes of
// an application. Zero fields mean the default.
type Config struct {
	// App begins the names of all topics. It has letters, digits, "-" and "_",
	// at most 100.
	App string `json:"app" yaml:"app"`
	// Brokers are addresses to find the cluster by, for example
	// "kafka-1:9092".
	Brokers []string `json:"brokers" yaml:"brokers"`
	// Sarama is the client's configuration: TLS, SASL, the version and names
	// are taken from it; what actors depend on is set over it. It is copied.
	// nil means sarama's default with WaitForAll, without which it is refused.
	Sarama *sarama.Config `json:"-" yaml:"-"`

	// Types are the types of actors by their number of partitions, 0 for
	// Partitions: those that [Setup] makes topics for, and [Open] looks at. A
	// type that is not here is looked at when it is first used.
	Types map[string]uint32 `json:"types,omitempty" yaml:"types,omitempty"`
	// Partitions is how many a type gets that says nothing of its own. They
	// cannot be changed later. 0 means [DefaultPartitions].
	Partitions uint32 `json:"partitions,omitempty" yaml:"partitions,omitempty"`
	// Replication is the number of copies of every partition. 0 means
	// [DefaultReplication].
	Replication int16 `json:"replication,omitempty" yaml:"replication,omitempty"`
	// MinInSync is how many copies must have a record before it is
	// acknowledged. 0 means one less than Replication, and at least 1.
	MinInSync int `json:"min_in_sync,omitempty" yaml:"min_in_sync,omitempty"`

	// ReplyPartitions are those of the topic of answers, over which processes
	// spread. 0 means [DefaultReplyPartitions].
	ReplyPartitions uint32 `json:"reply_partitions,omitempty" yaml:"reply_partitions,omitempty"`
	// ReplyRetention is how long answers are kept. 0 means
	// [DefaultReplyRetention].
	ReplyRetention time.Duration `json:"reply_retention,omitempty" yaml:"reply_retention,omitempty"`
	// DeadRetention is how long dead letters are kept. 0 means
	// [DefaultDeadRetention].
	DeadRetention time.Duration `json:"dead_retention,omitempty" yaml:"dead_retention,omitempty"`

	// ExactlyOnce are ordinary topics, "dead" among them if wanted, that the
	// messages of steps are published to in transactions: who reads what is
	// committed sees each once, in the order of its partition of actors. That
	// costs some milliseconds, for up to 256 messages at once, and a producer of
	// its own for each partition that has published within the last minute. To
	// all others messages are published at least once. It must be the same in all
	// processes.
	ExactlyOnce []string `json:"exactly_once,omitempty" yaml:"exactly_once,omitempty"`

	// SuspectAfter is the silence, by the clock of the brokers, after which the
	// others take over from a process. 0 means 600 ms.
	SuspectAfter time.Duration `json:"suspect_after,omitempty" yaml:"suspect_after,omitempty"`
	// Session is after what time the consumer group itself gives a process up,
	// where no other is there to tell; a stock broker takes 6 s at least. 0
	// means 10 s.
	Session time.Duration `json:"session,omitempty" yaml:"session,omitempty"`

	// Direct has answers go over connections between processes instead of a
	// topic, where it can. nil means the topic only.
	Direct *Direct `json:"direct,omitempty" yaml:"direct,omitempty"`

	// OnMember is told what happens to the memberships of this process, from any
	// goroutine; it must be quick, and may panic. nil tells nobody.
	OnMember func(MemberEvent) `json:"-" yaml:"-"`

	// QueueBytes bounds what waits to be sent to the brokers; above it appends
	// fail with [ErrQueueFull]. 0 means [DefaultQueueBytes].
	QueueBytes int `json:"queue_bytes,omitempty" yaml:"queue_bytes,omitempty"`
	// ReadBytes bounds what a reader has fetched and its owner has not taken
	// yet, give or take one fetch. 0 means [DefaultReadBytes].
	ReadBytes int `json:"read_bytes,omitempty" yaml:"read_bytes,omitempty"`
}

var (
	validApp  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
	validType = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
)

// taken are the names that an application's other topics have.
var taken = map[string]bool{"members": true, "replies": true, "dead": true}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	_, hardening := client.Harden(c.Sarama)
	settings := []backstay.Setting{
		{Path: "app", Value: c.App, Valid: validApp.MatchString(c.App), Allowed: "must be 1 to 100 letters, digits, - and _"},
		{Path: "brokers", Value: c.Brokers, Valid: len(c.Brokers) > 0, Allowed: "must have at least one address"},
		{Path: "partitions", Value: c.Partitions, Valid: c.Partitions <= maxPartitions, Allowed: "must be at most 10,000"},
		{Path: "replication", Value: c.Replication, Valid: c.Replication >= 0, Allowed: "must be at least 1, or 0 for the default of 3"},
		{
			Path: "min_in_sync", Value: c.MinInSync, Valid: c.MinInSync >= 0 && c.MinInSync <= int(cmp.Or(c.Replication, DefaultReplication)),
			Allowed: "must be from 1 to replication, or 0 for one less than that",
		},
		{Path: "reply_partitions", Value: c.ReplyPartitions, Valid: c.ReplyPartitions <= maxPartitions, Allowed: "must be at most 10,000"},
		{Path: "reply_retention", Value: c.ReplyRetention, Valid: lasting(c.ReplyRetention), Allowed: "must be at least 1s, or 0 for the default of 10m"},
		{Path: "dead_retention", Value: c.DeadRetention, Valid: lasting(c.DeadRetention), Allowed: "must be at least 1s, or 0 for the default of 720h"},
		{Path: "suspect_after", Value: c.SuspectAfter, Valid: c.SuspectAfter == 0 || c.SuspectAfter >= 400*time.Millisecond, Allowed: "must be at least 400ms, or 0 for the default of 600ms"},
		{Path: "session", Value: c.Session, Valid: lasting(c.Session), Allowed: "must be at least 1s, or 0 for the default of 10s"},
		{Path: "queue_bytes", Value: c.QueueBytes, Valid: c.QueueBytes >= 0, Allowed: "must not be negative"},
		{Path: "read_bytes", Value: c.ReadBytes, Valid: c.ReadBytes >= 0 && c.ReadBytes <= math.MaxInt32, Allowed: "must be from 0 to 2 GiB"},
	}
	for _, b := range c.Brokers {
		settings = append(settings, backstay.Setting{Path: "brokers", Value: b, Valid: b != "", Allowed: "must not be empty"})
	}
	for _, t := range c.ExactlyOnce {
		settings = append(settings, backstay.Setting{Path: "exactly_once", Value: t, Valid: t != "", Allowed: "must not be empty"})
	}
	for t, n := range c.Types {
		settings = append(settings,
			backstay.Setting{Path: "types." + t, Value: t, Valid: validType.MatchString(t) && !taken[t], Allowed: "must be 1 to 100 letters, digits, - and _, and none of members, replies, dead"},
			backstay.Setting{Path: "types." + t, Value: n, Valid: n <= maxPartitions, Allowed: "must be at most 10,000 partitions"})
	}
	return errors.Join(backstay.Check(settings...), backstay.Under("sarama", hardening), backstay.Under("direct", c.Direct.Validate()))
}

// maxPartitions is more than a client without fetch sessions can read.
const maxPartitions = 10_000

func lasting(d time.Duration) bool { return d == 0 || d >= time.Second }

func (c Config) withDefaults() Config {
	c.Partitions = cmp.Or(c.Partitions, DefaultPartitions)
	c.Replication = cmp.Or(c.Replication, DefaultReplication)
	c.MinInSync = cmp.Or(c.MinInSync, max(int(c.Replication)-1, 1))
	c.ReplyPartitions = cmp.Or(c.ReplyPartitions, DefaultReplyPartitions)
	c.ReplyRetention = cmp.Or(c.ReplyRetention, DefaultReplyRetention)
	c.DeadRetention = cmp.Or(c.DeadRetention, DefaultDeadRetention)
	c.QueueBytes = cmp.Or(c.QueueBytes, DefaultQueueBytes)
	c.ReadBytes = cmp.Or(c.ReadBytes, DefaultReadBytes)
	return c
}
