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
	keyed       bool
	name        string
	cancellable bool
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
// kept ([Config].Window). An answer of this package counts: a request that has
// expired, or was refused by a full mailbox, has ended, though it has not run,
// and takes another key to be made again. [Method.Result] asks for the answer
// and makes nothing.
//
// A key names one act: "order 7", not "daily". After the window a request with
// it runs again, under the same identity: its RequestID, what
// [Self.IdempotencyKey] returns, and the ids of the messages that it publishes
// are those of the earlier one, so who drops what he has seen drops it.
//
// It is for requests from outside; those of methods have keys of their own,
// which [Name] can tell apart. An empty key is an error of the request: it
// would be one key for all, or none.
func IdempotencyKey(key string) Option {
	return option(func(s *sending) { s.key, s.keyed = key, true })
}

// Cancellable makes the call end with the caller's wait: if ctx, that of Call or
// Await, ends before there is an answer, a request that has not begun is
// dropped, and the context of a method that runs ends. What the method then
// returns is its outcome, recorded once as any other. It costs a record where it
// happens, and reaches the method it was sent to, not the later links of a
// chain. A call with an [IdempotencyKey] may be others' too, and cannot have it.
func Cancellable() CallOption { return callOption(func(s *sending) { s.cancellable = true }) }

// Name names a nested call within its method. The callee's idempotency key is
// derived from it: the same in every retry of the method, however the order of
// its calls may differ. Without one the call's ordinal serves.
func Name(name string) CallOption { return callOption(func(s *sending) { s.name = name }) }

// Delay lets the request enter its actor's queue no earlier than d after it
// was sent. Its order is then that of entering.
func Delay(d time.Duration) TellOption { return tellOption(func(s *sending) { s.delay = d }) }

// callSending is what the options make of a call. Most have none, and pay for
// none: options keep what they change on the heap.
func callSending(options []CallOption) sending {
	if len(options) == 0 {
		return sending{}
	}
	s := new(sending)
	for _, o := range options {
		o.onCall(s)
	}
	return *s
}

func tellSending(options []TellOption) sending {
	if len(options) == 0 {
		return sending{}
	}
	s := new(sending)
	for _, o := range options {
		o.onTell(s)
	}
	return *s
}
