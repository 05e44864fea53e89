package actors

import "time"

// CallOption changes one call.
type CallOption interface{ onCall(*sending) }

// TellOption changes one tell.
type TellOption interface{ onTell(*sending) }

// sending is what options change.
type sending struct {
	expireAfter time.Duration
	delay       time.Duration
	key         string
	name        string
}

type option func(*sending)

func (o option) onCall(s *sending) { o(s) }
func (o option) onTell(s *sending) { o(s) }

type tellOption func(*sending)

func (o tellOption) onTell(s *sending) { o(s) }

type callOption func(*sending)

func (o callOption) onCall(s *sending) { o(s) }

// Option is both a [CallOption] and a [TellOption].
type Option interface {
	CallOption
	TellOption
}

// ExpireAfter bounds how long the request may wait to begin, counted from when
// the log took it. A call has the deadline of its context as well, a tell has
// none but this. What has begun does not expire. Units of less than a
// millisecond are rounded up.
func ExpireAfter(d time.Duration) Option { return option(func(s *sending) { s.expireAfter = d }) }

// IdempotencyKey makes all requests to an actor's method with the same key
// one: the first runs, the others get its answer, for as long as answers are
// kept ([Config].Window). It is for requests from outside; those of methods
// have keys of their own, which [Name] can tell apart.
func IdempotencyKey(key string) Option { return option(func(s *sending) { s.key = key }) }

// Name names a nested call within its method. The callee's idempotency key is
// derived from it: the same in every retry of the method, however the order of
// its calls may differ. Without one the call's ordinal serves.
func Name(name string) CallOption { return callOption(func(s *sending) { s.name = name }) }

// Delay lets the request enter its actor's queue no earlier than d after it
// was sent. Its order is then that of entering.
func Delay(d time.Duration) TellOption { return tellOption(func(s *sending) { s.delay = d }) }

func callSending(options []CallOption) (s sending) {
	for _, o := range options {
		o.onCall(&s)
	}
	return s
}

func tellSending(options []TellOption) (s sending) {
	for _, o := range options {
		o.onTell(&s)
	}
	return s
}
