package redis

import (
	"context"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// ask runs a script on one key, in one round trip, or two where Redis does not
// know it yet, and within a time of its own. It is done when Redis has
// answered, or when the time is over; not earlier for a caller who cancels,
// because what was sent takes effect all the same, and what follows must not
// overtake it.
func (s *Store) ask(ctx context.Context, do *script, name string, args ...any) (any, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	asked := backstay.Now()
	bounded, cancel := context.WithTimeout(ctx, s.patience(asked, do))
	defer cancel()
	reply, err := s.run(bounded, do, name, args)
	if answered(err) {
		s.doubt.answered()
	}
	if err == nil {
		return reply, nil
	}
	return nil, s.unanswered(ctx, do, name, asked, err)
}

// run is Script.Run of go-redis, without the need for all of its Scripter.
func (s *Store) run(ctx context.Context, do *script, name string, args []any) (any, error) {
	keys := []string{name}
	reply, err := s.client.EvalSha(ctx, do.hash, keys, args...).Result()
	if goredis.HasErrorPrefix(err, "NOSCRIPT") { // a new server, or one that was told to forget
		reply, err = s.client.Eval(ctx, do.text, keys, args...).Result()
	}
	return reply, err
}

// patience is for how long Redis may take. While it is in doubt whether it
// answers at all, callers wait for a tenth of the timeout. An answer that is
// not kept is work done twice, so that completion is worth the whole of it,
// unless answering is worth more: then it is never the one that finds out.
func (s *Store) patience(now backstay.Instant, do *script) time.Duration {
	switch {
	case s.config.WhenDown == LetThrough && (do == complete || do == release):
		return s.doubt.haste(s.config.Timeout)
	case do == begin || do == release:
		return s.doubt.patience(now, s.config.Timeout)
	default:
		return s.config.Timeout
	}
}

// unanswered judges an operation that brought no answer to go on with. Redis is
// to blame, unless the caller left it no time.
func (s *Store) unanswered(ctx context.Context, do *script, name string, asked backstay.Instant, err error) error {
	now := backstay.Now()
	gone, took := ended(ctx), now.Sub(asked)
	if gone != nil && took < s.config.Timeout/brevity {
		return gone
	}
	if !answered(err) {
		if took >= s.config.Timeout/brevity {
			s.doubt.unanswered(now, s.config.Timeout)
		}
		err = fmt.Errorf("no answer for %v: %w", took.Round(time.Millisecond), err)
	}
	err = s.failed(ctx, do, name, err)
	if gone != nil {
		return gone
	}
	return err
}

// failed makes the error of an operation and tells the observer of it.
func (s *Store) failed(ctx context.Context, do *script, name string, cause error) error {
	e := s.fault(do, name, reason(cause))
	if cause != e.Err { //nolint:errorlint // the very one says nothing more
		e.Cause = cause
	}
	if !s.scope.Silent() {
		s.scope.Emit(ctx, backstay.Event{Kind: idempotency.StoreFailed, Operation: do.name, Err: e, Outcome: e.Outcome()})
	}
	return e
}

// fault is an error about the key called name.
func (s *Store) fault(do *script, name string, why error) *Error {
	return &Error{Err: why, Name: s.scope.Name(), Op: do.name, Key: name}
}

// ended returns the error of a context that is done. Its deadline may have
// passed a moment before it says so.
func ended(ctx context.Context) error {
	if err := backstay.ContextError(ctx); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return nil
}
