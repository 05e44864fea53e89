package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// Store is an [idempotency.Store] that many processes share through Redis. It
// has no goroutine and nothing to close; its client belongs to whoever made
// it. It is safe for use by many goroutines.
//
// It is no [idempotency.Waiter]: guards poll it. A message that wakes who
// waits can be lost, so that there would have to be polling beside it, and it
// needs a subscription per process, which a cluster before Redis 7 sends to
// every server. Polling costs a repetition a look at 5 ms, twice as late each
// time, and then four looks a second at most, all of them jittered.
type Store struct {
	config Config
	client Client
	scope  *backstay.Scope
	doubt  doubt
}

var _ idempotency.Store = (*Store)(nil)

// New returns a store over client, or every fault of the configuration. The
// client must be made with ContextTimeoutEnabled.
func New(c Config, client Client, options ...Option) (*Store, error) {
	err := errors.Join(c.Validate(), backstay.Check(checkClient(client)))
	if err != nil {
		return nil, backstay.Under("idempotency.redis", err)
	}
	s := &Store{config: c.withDefaults(), client: client}
	for _, o := range options {
		o(s)
	}
	return s, nil
}

// Begin claims a key; see [idempotency.Store]. Where Redis fails, WhenDown
// decides.
func (s *Store) Begin(ctx context.Context, c idempotency.Claim, f idempotency.Fingerprint, lease time.Duration) (idempotency.Result, error) {
	name := keyName(s.config.Prefix, c.Key)
	reply, err := s.ask(ctx, begin, name, head(c, f), millis(lease))
	if err != nil {
		return s.unknown(ctx, err)
	}
	result, err := parse(reply)
	if err != nil {
		return s.unknown(ctx, s.failed(ctx, begin, name, err))
	}
	return result, nil
}

// unknown decides on a claim of which Redis did not say what becomes of it.
func (s *Store) unknown(ctx context.Context, err error) (idempotency.Result, error) {
	if s.config.WhenDown == Refuse || ended(ctx) != nil {
		return idempotency.Result{}, err
	}
	if !s.scope.Silent() {
		s.scope.Emit(ctx, backstay.Event{Kind: idempotency.LetThrough, Operation: begin.name, Err: err})
	}
	return idempotency.Result{State: idempotency.Started, Unprotected: true}, nil
}

// Renew prolongs a lease; see [idempotency.Store].
func (s *Store) Renew(ctx context.Context, c idempotency.Claim, lease time.Duration) error {
	return s.tell(ctx, renew, c, millis(lease))
}

// Complete keeps an answer; see [idempotency.Store].
func (s *Store) Complete(ctx context.Context, c idempotency.Claim, r idempotency.Record, retention time.Duration) error {
	switch {
	case r.Omitted:
		return s.tell(ctx, complete, c, millis(retention))
	case int64(len(r.Answer)) > s.config.MaxAnswer:
		return s.tooLarge(ctx, c, len(r.Answer))
	default:
		return s.tell(ctx, complete, c, millis(retention), r.Answer)
	}
}

func (s *Store) tooLarge(ctx context.Context, c idempotency.Claim, size int) error {
	if err := ended(ctx); err != nil {
		return err
	}
	e := s.fault(complete, keyName(s.config.Prefix, c.Key), idempotency.ErrStoreFull)
	e.Cause = fmt.Errorf("an answer of %d bytes is more than max_answer, %d", size, s.config.MaxAnswer)
	return e
}

// Release frees a key; see [idempotency.Store].
func (s *Store) Release(ctx context.Context, c idempotency.Claim) error {
	return s.tell(ctx, release, c)
}

// tell runs a script as the owner c.
func (s *Store) tell(ctx context.Context, do *script, c idempotency.Claim, args ...any) error {
	name := keyName(s.config.Prefix, c.Key)
	reply, err := s.ask(ctx, do, name, append([]any{c.Owner[:]}, args...)...)
	if err != nil {
		return err
	}
	err = parseOwner(reply)
	if err == nil || errors.Is(err, idempotency.ErrLeaseLost) {
		return err
	}
	return s.failed(ctx, do, name, err)
}
