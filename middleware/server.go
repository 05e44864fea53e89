package middleware

import (
	"errors"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
)

// Server is everything that is configured for what stands in front of the
// handlers of a server. It is data; a policy file yields a Server, and the
// protocols' constructors take it, once: a later change of it changes nothing
// until it is applied. A copy of a Server shares its sections, so set a new
// section rather than a field of an old one. A nil section leaves its part out. The zero Server protects nothing, and
// still keeps retries from multiplying.
//
// Its tags are for package policyfile, which reads durations with units; plain
// encoding/json takes them as nanoseconds.
type Server struct {
	// Name names the server in errors, events and metrics.
	Name string `json:"name,omitempty" yaml:"name,omitempty"`
	// Deadline takes up how long callers wait, bounds every request that is no
	// stream, and refuses those that come too late to be worth a handler.
	Deadline *deadline.IncomingConfig `json:"deadline,omitempty" yaml:"deadline,omitempty"`
	// Timeout answers in a handler's place that has not begun its answer so
	// long after it began to work, even if it ignores the end of its context.
	// It costs a goroutine a request; the permit stays with the handler until
	// that really returns. 0 means off: then the end of the context is the
	// handler's to obey.
	Timeout time.Duration `json:"timeout,omitempty" yaml:"timeout,omitempty"`
	// Bulkhead bounds how many requests are worked on at once, streams
	// included, and sheds the rest, those of lower priority first.
	Bulkhead *bulkhead.Config `json:"bulkhead,omitempty" yaml:"bulkhead,omitempty"`
	// PriorityHeader names the header, or key of metadata, in which callers
	// say what their request is: critical, default or sheddable. Name one only
	// where callers can be trusted with it. Default: none is read.
	PriorityHeader string `json:"priority_header,omitempty" yaml:"priority_header,omitempty"`
	// Idempotency does the work of requests that carry a key once. It needs a
	// store, which is an option of the protocol's constructor. Such work goes on
	// for a while after its caller has given up: see [Server.Grace].
	Idempotency *idempotency.GuardConfig `json:"idempotency,omitempty" yaml:"idempotency,omitempty"`
	// KeyHeader names the header, or key of metadata, that carries the
	// idempotency key. Default: Idempotency-Key.
	KeyHeader string `json:"key_header,omitempty" yaml:"key_header,omitempty"`
	// RetryNested lets handlers retry downstream also for requests that are
	// retries themselves. Default: they do not, because layers that retry
	// multiply.
	RetryNested bool `json:"retry_nested,omitempty" yaml:"retry_nested,omitempty"`
}

// StandardServer returns the Server most services want: deadlines are taken up,
// no request lasts longer than a minute, and the number of those worked on at
// once follows what the service can bear.
func StandardServer(name string) Server {
	return Server{
		Name:     name,
		Deadline: &deadline.IncomingConfig{},
		Bulkhead: &bulkhead.Config{Adaptive: &bulkhead.AdaptiveConfig{}},
	}
}

// Validate returns every fault at once, each a [backstay.FieldError], with the
// server's name in front of its path.
func (s Server) Validate() error {
	err := errors.Join(
		section("deadline", s.Deadline),
		section("bulkhead", s.Bulkhead),
		section("idempotency", s.Idempotency),
		s.validateOwn(),
		s.validateTogether(),
	)
	return s.under(err)
}

// under moves faults to where the server's are.
func (s Server) under(err error) error {
	if s.Name == "" {
		return err
	}
	return backstay.Under(s.Name, err)
}

// validateOwn checks the settings that belong to no section.
func (s Server) validateOwn() error {
	header := func(path, name string) backstay.Setting {
		return backstay.Setting{
			Path: path, Value: name, Valid: name == "" || wire.IsFieldName(name),
			Allowed: wire.FieldNames,
		}
	}
	return backstay.Check(
		backstay.Setting{
			Path: "timeout", Value: s.Timeout, Valid: s.Timeout >= 0,
			Allowed: "must not be negative; 0 is off",
		},
		header("priority_header", s.PriorityHeader),
		header("key_header", s.KeyHeader),
	)
}

// validateTogether checks what no section can see alone.
func (s Server) validateTogether() error {
	longest, work := s.longest(), boundOf("timeout", s.Timeout, 0)
	rules := []backstay.Setting{
		atMost(work, longest, "a handler cannot outlast its request"),
		{
			Path: "priority_header", Value: s.PriorityHeader,
			Valid:   s.PriorityHeader == "" || s.Bulkhead != nil && s.Bulkhead.Priorities != nil,
			Allowed: "must be empty without bulkhead.priorities: nothing asks for priorities",
		},
	}
	if s.Deadline != nil {
		least := boundOf("deadline.minimum", s.Deadline.Minimum, 0)
		rules = append(rules, atMost(least, work, "else no handler has the time that it needs"))
	}
	if s.Bulkhead != nil {
		queued := boundOf("bulkhead.max_wait", s.Bulkhead.MaxWait, 0)
		rules = append(rules, atMost(queued, longest, "nobody waits longer than the request may take"), backstay.Setting{
			Path: "bulkhead.hold_body", Value: true, Valid: !s.Bulkhead.HoldBody,
			Allowed: "must be off in a server: its permits are held until the handler returns",
		})
	}
	if s.Idempotency != nil {
		inFlight := boundOf("idempotency.max_wait", s.Idempotency.MaxWait, 0)
		rules = append(rules, atMost(inFlight, longest, "nobody waits longer than the request may take"))
	}
	return backstay.Check(rules...)
}

// longest bounds a request that is no stream.
func (s Server) longest() bound {
	if s.Deadline == nil {
		return bound{}
	}
	return boundOf("deadline.cap", s.Deadline.Cap, deadline.DefaultCap)
}

// Grace is how long keyed work may go on after its caller has given up, its
// timeout has passed, or the cap: what Idempotency.Grace says, and where that
// says nothing [idempotency.DefaultGrace], but no longer than Timeout and the
// cap, so that a handler that hangs, its permit and its calls downstream do not
// outlast the limits of the server many times over. It is 0 without
// Idempotency, and where the section says [idempotency.NoGrace].
func (s Server) Grace() time.Duration {
	switch {
	case s.Idempotency == nil:
		return 0
	case s.Idempotency.Grace != 0:
		return max(s.Idempotency.Grace, 0)
	}
	grace := idempotency.DefaultGrace
	for _, most := range [...]time.Duration{s.Timeout, s.longest().d} {
		if most > 0 {
			grace = min(grace, max(most, time.Millisecond))
		}
	}
	return grace
}

// guards returns the Idempotency section with the server's own default.
func (s Server) guards() *idempotency.GuardConfig {
	if s.Idempotency == nil || s.Idempotency.Grace != 0 {
		return s.Idempotency
	}
	c := *s.Idempotency
	c.Grace = s.Grace()
	return &c
}
