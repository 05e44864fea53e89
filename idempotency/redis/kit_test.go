package redis_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestMain(m *testing.M) {
	logging.Disable() // it reports every connection that fails
	os.Exit(m.Run())
}

// call is what a client was asked for.
type call struct {
	script string // its hash, or its text
	keys   []string
	args   []any
}

// client is a Redis that answers with what a test wants.
type client struct {
	known   bool // whether it knows the scripts
	answer  func(ctx context.Context) (any, error)
	calls   []call
	evalSha int
}

func (c *client) EvalSha(ctx context.Context, hash string, keys []string, args ...any) *goredis.Cmd {
	c.evalSha++
	if !c.known {
		c.calls = append(c.calls, call{hash, keys, args})
		return goredis.NewCmdResult(nil, redisError("NOSCRIPT No matching script. Please use EVAL."))
	}
	return c.reply(ctx, call{hash, keys, args})
}

func (c *client) Eval(ctx context.Context, text string, keys []string, args ...any) *goredis.Cmd {
	c.known = true
	return c.reply(ctx, call{text, keys, args})
}

func (c *client) reply(ctx context.Context, asked call) *goredis.Cmd {
	c.calls = append(c.calls, asked)
	return goredis.NewCmdResult(c.answer(ctx))
}

// redisError is an error that Redis answered with.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

// answers is a client that knows the scripts and gives one answer.
func answers(reply any, err error) *client {
	return &client{known: true, answer: func(context.Context) (any, error) { return reply, err }}
}

// hangs is a client that never answers.
func hangs() *client {
	return &client{known: true, answer: func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
}

// after is an answer that takes d, unless it is not waited for.
func after(d time.Duration) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		select {
		case <-time.After(d):
			return int64(1), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// told is what an observer of a store was told.
type told struct{ testkit.Recorder }

// kinds are the kinds of the events since the last time, in order.
func (r *told) kinds() (all []backstay.Kind) {
	for _, e := range r.Take() {
		all = append(all, e.Kind)
	}
	return all
}

func open(tb testing.TB, c redis.Config, over redis.Client) (*redis.Store, *told) {
	tb.Helper()
	seen := new(told)
	s, err := redis.New(c, over, redis.WithScope(&backstay.Scope{Policy: "payments", Observer: seen}))
	if err != nil {
		tb.Fatal(err)
	}
	return s, seen
}

var claim = idempotency.Claim{Key: "k", Owner: idempotency.Token{1}}

// steps are the operations of a store.
var steps = map[string]func(context.Context, *redis.Store) error{
	"begin": func(ctx context.Context, s *redis.Store) error {
		got, err := s.Begin(ctx, claim, idempotency.Fingerprint{2}, idempotency.DefaultLease)
		return errors.Join(err, begun(got, err))
	},
	"renew": func(ctx context.Context, s *redis.Store) error { return s.Renew(ctx, claim, idempotency.DefaultLease) },
	"complete": func(ctx context.Context, s *redis.Store) error {
		return s.Complete(ctx, claim, idempotency.Record{Answer: []byte("answer")}, idempotency.DefaultRetention)
	},
	"release": func(ctx context.Context, s *redis.Store) error { return s.Release(ctx, claim) },
}

// begun wants a result with a state, or an error without one.
func begun(got idempotency.Result, err error) error {
	if (err == nil) != (got.State == idempotency.Started) {
		return errors.New("the state is " + got.State.String())
	}
	return nil
}
