package redis_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// unusable are the answers of a Redis that does not say what becomes of a claim.
var unusable = map[string]*client{
	"it is gone":            answers(nil, io.EOF),
	"it hangs":              hangs(),
	"it is full":            answers(nil, redisError("OOM command not allowed")),
	"it answers nonsense":   answers("PONG", nil),
	"it holds another type": answers(nil, redisError("WRONGTYPE")),
	"it holds something":    answers(int64(0), nil),
}

func TestRefuseBeginsNothingWithoutRedis(t *testing.T) {
	for name, c := range unusable {
		synctest.Test(t, func(t *testing.T) {
			s, seen := open(t, redis.Config{}, c)
			guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, s)
			_, _, err := guard.Run(t.Context(), idempotency.Request{Key: "k"}, func(context.Context) (idempotency.Answer, error) {
				t.Errorf("%s: the work ran", name)
				return idempotency.Answer{}, nil
			})
			refused, ok := errors.AsType[*idempotency.Error](err)
			if !ok || refused.HTTPStatus() != 503 {
				t.Errorf("%s: %v, want a 503", name, err)
			}
			if events := seen.kinds(); slices.Contains(events, idempotency.LetThrough) || !slices.Contains(events, idempotency.StoreFailed) {
				t.Errorf("%s: told %v", name, events)
			}
		})
	}
}

func TestLetThroughDoesTheWorkAndTells(t *testing.T) {
	for name, c := range unusable {
		synctest.Test(t, func(t *testing.T) {
			s, seen := open(t, redis.Config{WhenDown: redis.LetThrough}, c)
			guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, s)
			began := time.Now()
			got, replayed, err := guard.Run(t.Context(), idempotency.Request{Key: "k"}, func(context.Context) (idempotency.Answer, error) {
				return idempotency.Answer{Data: []byte("answer")}, nil
			})
			if err != nil || replayed || string(got.Data) != "answer" || time.Since(began) > 2*time.Second {
				t.Errorf("%s: %q, %t, %v after %v", name, got.Data, replayed, err, time.Since(began))
			}
			if events := seen.kinds(); len(events) < 2 || !slices.Equal(events[:2], []backstay.Kind{idempotency.StoreFailed, idempotency.LetThrough}) {
				t.Errorf("%s: told %v", name, events)
			}
		})
	}
}

// Neither for its answer to be kept, nor, where it failed, for its key to be freed.
func TestWorkThatWasLetThroughDoesNotWaitForRedis(t *testing.T) {
	for _, outcome := range []error{nil, io.ErrUnexpectedEOF} {
		for name, c := range unusable {
			synctest.Test(t, func(t *testing.T) {
				s, _ := open(t, redis.Config{WhenDown: redis.LetThrough}, c)
				guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, s)
				var done time.Time
				_, _, err := guard.Run(t.Context(), idempotency.Request{Key: "k"}, func(context.Context) (idempotency.Answer, error) {
					time.Sleep(2 * time.Second) // so long that a patient look at Redis is due
					done = time.Now()
					return idempotency.Answer{Data: []byte("answer")}, outcome
				})
				most := time.Duration(0)
				if name == "it hangs" {
					most = redis.DefaultTimeout / 10
				}
				if waited := time.Since(done); waited > most || !errors.Is(err, outcome) {
					t.Errorf("%s: %v, %v after the work had ended, want at most %v", name, err, waited, most)
				}
			})
		}
	}
}

// Redis comes back while work that was let through is running: the guard takes
// the key for it, and its answer is kept.
func TestWorkThatWasLetThroughIsProtectedOnceRedisIsBack(t *testing.T) {
	replies := []struct {
		reply any
		err   error
	}{
		{nil, io.EOF},   // Begin
		{int64(0), nil}, // Complete: the key is not its own
		{int64(1), nil}, // Begin
		{int64(1), nil}, // Complete
	}
	c := &client{known: true}
	c.answer = func(context.Context) (any, error) {
		next := replies[0]
		replies = replies[1:]
		return next.reply, next.err
	}
	s, seen := open(t, redis.Config{WhenDown: redis.LetThrough}, c)
	guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, s)
	_, _, err := guard.Run(t.Context(), idempotency.Request{Key: "k"}, func(context.Context) (idempotency.Answer, error) {
		return idempotency.Answer{Data: []byte("answer")}, nil
	})
	if err != nil || len(replies) > 0 || len(c.calls[3].args) != 3 {
		t.Errorf("%v; not asked for: %v; asked %v", err, replies, c.calls)
	}
	if events := seen.kinds(); len(events) != 2 {
		t.Errorf("told %v", events)
	}
}
