package brokers

import (
	"strconv"
	"time"
)

// Option changes what [Start] starts.
type Option func(*plan)

// plan is what options change.
type plan struct {
	brokers  int
	user     string
	password string
	settings map[string]string // besides, and before, those of every broker
	lasting  bool              // worth the work of Java's second compiler
}

func newPlan(options []Option) *plan {
	p := &plan{brokers: 1, settings: map[string]string{}}
	for _, o := range options {
		o(p)
	}
	return p
}

// WithBrokers starts n of them, 1 or 3; 1 is the default.
func WithBrokers(n int) Option { return func(p *plan) { p.brokers = n } }

// WithSASL gives every broker a second listener that wants this user, by the
// mechanism PLAIN. [Cluster.SASLAddrs] are its addresses.
func WithSASL(user, password string) Option {
	return func(p *plan) { p.user, p.password = user, password }
}

// WithSession sets how long a broker may be silent until the others take over
// from it; stock is 9 s.
func WithSession(d time.Duration) Option {
	return func(p *plan) {
		p.settings["broker.session.timeout.ms"] = milliseconds(d)
		p.settings["broker.heartbeat.interval.ms"] = milliseconds(d / 5)
	}
}

// WithRebalanceDelay sets how long a new group waits for more members before
// it shares out its partitions; stock is 3 s.
func WithRebalanceDelay(d time.Duration) Option {
	return WithSetting("group.initial.rebalance.delay.ms", milliseconds(d))
}

// WithSetting sets any line of server.properties.
func WithSetting(name, value string) Option {
	return func(p *plan) { p.settings[name] = value }
}

// WithFullCompiler has Java compile twice what runs often. A broker is then as
// fast as it gets after some ten thousand requests, and takes more than half as
// much work again to start: this is for measurements.
func WithFullCompiler() Option { return func(p *plan) { p.lasting = true } }

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
