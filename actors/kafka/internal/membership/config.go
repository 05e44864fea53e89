package membership

import (
	"cmp"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// Config is what a membership needs. Durations have the default that is said
// where they are zero.
type Config struct {
	// App is the name of the application: the beats are in the topic
	// App.members, the group is App.owners.
	App     string
	Brokers []string
	// Sarama is the configuration of the connections, hardened.
	Sarama *sarama.Config
	Member journal.Member
	// Partitions is their number, of each type that the member has methods of.
	Partitions map[string]uint32
	// Address is told to the other members, for direct answers; it may be empty.
	Address string

	// Beats is what the topic of beats is read by.
	Beats Records

	// Beat is the interval of beats, 200 ms; a group of more than 20 beats more
	// slowly, 100 times a second together.
	Beat time.Duration
	// SuspectAfter is the silence after which a member is removed from the
	// group, 600 ms, or three of its intervals if that is more.
	SuspectAfter time.Duration
	// Session is after what time without a heartbeat the group itself gives a
	// member up, 10 s: it is what is left where no other member is alive. It is
	// also the lease: after such a time without an answer of the group this
	// node owns nothing. A stock broker takes 6 s at least.
	Session time.Duration
	// Heartbeat is the interval of heartbeats, 200 ms. While members come and
	// go it is a quarter of that.
	Heartbeat time.Duration
	// Observe is told what happens, from any goroutine; it must be quick. nil
	// tells nobody.
	Observe func(Event)
}

func (c Config) withDefaults() Config {
	c.Beat = cmp.Or(c.Beat, 200*time.Millisecond)
	c.SuspectAfter = cmp.Or(c.SuspectAfter, 600*time.Millisecond)
	c.Session = cmp.Or(c.Session, 10*time.Second)
	c.Heartbeat = cmp.Or(c.Heartbeat, 200*time.Millisecond)
	return c
}

func (c Config) validate() error {
	counted := true
	for t := range c.Member.Methods {
		counted = counted && c.Partitions[t] > 0
	}
	return backstay.Check(
		backstay.Setting{Path: "app", Value: c.App, Valid: c.App != "", Allowed: "must not be empty"},
		backstay.Setting{Path: "member.methods", Value: c.Member.Methods, Valid: len(c.Member.Methods) > 0, Allowed: "must name a type: who hosts nothing does not join"},
		backstay.Setting{Path: "partitions", Value: c.Partitions, Valid: counted, Allowed: "must have every type of member.methods"},
		backstay.Setting{Path: "beats", Value: "nothing", Valid: c.Beats != nil, Allowed: "must read the topic of beats"},
		backstay.Setting{Path: "beat", Value: c.Beat, Valid: c.Beat >= shortest && c.Beat <= longest, Allowed: "must be 10 ms to 10 s"},
		backstay.Setting{Path: "suspect_after", Value: c.SuspectAfter, Valid: c.SuspectAfter >= 2*c.Beat && c.SuspectAfter <= time.Hour, Allowed: "must be at least two beats, at most 1 h"},
		backstay.Setting{Path: "heartbeat", Value: c.Heartbeat, Valid: c.Heartbeat >= shortest && c.Heartbeat <= c.Session/4, Allowed: "must be 10 ms to a quarter of session"},
		backstay.Setting{Path: "session", Value: c.Session, Valid: c.Session >= 4*shortest && c.Session <= time.Hour, Allowed: "must be 40 ms to 1 h"},
	)
}

// Names in the cluster.

func (c *Config) members() string         { return c.App + ".members" }
func (c *Config) group() string           { return c.App + ".owners" }
func (c *Config) topic(typ string) string { return c.App + "." + typ }
