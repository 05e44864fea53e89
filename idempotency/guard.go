package idempotency

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/backstay-go/backstay"
)

// Guard does work once per key: the server's and consumer's side of
// idempotency. It knows no protocol. A nil Guard does all work as it comes.
// It is safe for use by many goroutines; several guards, also of several
// processes, may share a [Store].
type Guard struct {
	config GuardConfig
	store  Store
	waiter Waiter // nil: poll
	scope  *backstay.Scope
	codec  Codec
}

// NewGuard returns a Guard over s, or every fault of the configuration.
func NewGuard(c GuardConfig, s Store, options ...Option) (*Guard, error) {
	err := errors.Join(c.Validate(), backstay.Check(backstay.Setting{
		Path: "store", Value: s, Valid: s != nil, Allowed: "must be given",
	}))
	if err != nil {
		return nil, backstay.Under("idempotency", err)
	}
	with := collect(options)
	g := &Guard{config: c.withDefaults(), store: s, scope: with.scope, codec: with.codec}
	g.waiter, _ = s.(Waiter)
	return g, nil
}

// Request says what is asked for.
type Request struct {
	// Key is the key as the client sent it; empty if it sent none.
	Key string
	// Scope is where the key counts, by convention tenant and route: the same
	// key in another scope is another key.
	Scope []string
	// Fingerprint stands for the payload; see [NewDigest].
	Fingerprint Fingerprint
}

// Answer is what work came to.
type Answer struct {
	// Data is the answer in whatever form the protocol chose.
	Data []byte
	// Keep says what to remember of it.
	Keep Keep
}

// Keep says what is remembered of work that has ended without an error.
type Keep uint8

const (
	// KeepAnswer gives the same answer to every repetition.
	KeepAnswer Keep = iota
	// KeepMark remembers only that the work was done, because the answer is
	// too large: repetitions are refused with [ErrAnswerNotKept].
	KeepMark
	// KeepNothing frees the key, so that a repetition does the work again: for
	// answers that say that it was not done, such as a status of 500 and up.
	KeepNothing
)

// Run does the work that r asks for, or gives the answer of the one who did.
//
// A key that nobody used runs work, on the caller's goroutine, and keeps its
// answer. A key that was used replays that answer byte for byte; the second
// result is then true. While the work is in flight, a repetition waits for its
// answer, within MaxWait and its own deadline, and is refused with
// [ErrInFlight] when that has passed. If the first fails meanwhile, the next
// in line does the work. Another fingerprint is refused with [ErrMismatch] at
// once, also while in flight.
//
// An error, a panic and runtime.Goexit of work pass through to the caller,
// free the key and are not kept; see [KeepNothing] for answers that should not
// be either.
//
// The context of work carries the values of ctx and [IncomingKey]. It ends
// Grace after ctx does, and at once, with a cause that matches [ErrLeaseLost],
// when somebody else may have become the owner of the key. The lease is
// renewed until work returns, however long that takes.
//
// If the answer cannot be stored after the work was done, the caller gets it
// all the same and the observer is told: an error would make it try again.
//
// Without a key, or with a nil Guard, Run just runs work.
func (g *Guard) Run(ctx context.Context, r Request, work func(context.Context) (Answer, error)) (Answer, bool, error) {
	if !g.Guards(r) {
		a, err := work(ctx)
		return a, false, err
	}
	t := newTenure(g, r)
	result, err := t.claim(ctx)
	switch {
	case err != nil:
		return Answer{}, false, err
	case result.State == Completed:
		return Answer{Data: result.Record.Answer}, true, nil
	}
	a, err := t.perform(ctx, work)
	return a, false, err
}

// Guards reports whether Run does more for r than run its work: it has a key,
// or lacks one that is required. A protocol need not read a body otherwise.
func (g *Guard) Guards(r Request) bool { return g != nil && (r.Key != "" || g.config.Required) }

// MaxAnswer is the largest answer that is kept, in bytes, so that a protocol
// need not record more of it; 0 for a nil Guard.
func (g *Guard) MaxAnswer() int64 {
	if g == nil {
		return 0
	}
	return g.config.MaxAnswer
}

// ReadBody reads a body to its end and makes the fingerprint of a request, of
// which parts are what precedes the body; see [NewDigest]. A body larger than
// MaxBody is refused with [ErrBodyTooLarge]. A nil body is empty. Other errors
// are those of body.
func (g *Guard) ReadBody(body io.Reader, parts ...string) ([]byte, Fingerprint, error) {
	limit, name := int64(DefaultMaxBody), ""
	if g != nil {
		limit, name = g.config.MaxBody, g.scope.Name()
	}
	data, tooLarge, err := readBody(body, limit)
	switch {
	case tooLarge:
		return nil, Fingerprint{}, &Error{Err: ErrBodyTooLarge, Name: name}
	case err != nil:
		return nil, Fingerprint{}, err
	}
	d := NewDigest(parts...)
	_, _ = d.Write(data)
	return data, d.Sum(), nil
}

// patience is for how long the guard waits for the store where it can go on
// without an answer.
func (g *Guard) patience() time.Duration { return g.config.Lease / 30 }
