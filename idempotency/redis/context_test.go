package redis_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

var policies = []redis.WhenDown{redis.Refuse, redis.LetThrough}

func TestNothingIsAskedOnAContextThatIsDone(t *testing.T) {
	hungUp := errors.New("hung up")
	for name, step := range steps {
		for _, policy := range policies {
			c := answers(int64(1), nil)
			s, seen := open(t, redis.Config{WhenDown: policy, MaxAnswer: 1}, c)
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(hungUp)
			if err := step(ctx, s); !errors.Is(err, context.Canceled) || !errors.Is(err, hungUp) || len(c.calls) > 0 {
				t.Errorf("%s: %v after %v", name, err, c.calls)
			}
			if events := seen.kinds(); len(events) > 0 {
				t.Errorf("%s: told %v", name, events)
			}
		}
	}
}

// Whoever gave up is told so, whatever the policy. Redis is to blame, so that
// the observer is told, where it had a tenth of the timeout at least.
func TestTheDeadlineOfTheCallerIsItsOwn(t *testing.T) {
	for after, blamed := range map[time.Duration]bool{99 * time.Millisecond: false, 100 * time.Millisecond: true} {
		for name, step := range steps {
			for _, policy := range policies {
				synctest.Test(t, func(t *testing.T) {
					s, seen := open(t, redis.Config{WhenDown: policy}, hangs())
					ctx, cancel := context.WithTimeout(t.Context(), after)
					defer cancel()
					began := time.Now()
					err := step(ctx, s)
					if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redis.ErrFailed) || time.Since(began) != after {
						t.Errorf("%s: %v after %v", name, err, time.Since(began))
					}
					events := seen.kinds()
					if told := slices.Equal(events, []backstay.Kind{idempotency.StoreFailed}); told != blamed || !told && len(events) > 0 {
						t.Errorf("%s, %v: told %v", name, after, events)
					}
				})
			}
		}
	}
}

// The client notices the deadline of a connection a moment before the context
// does.
func TestADeadlineThatHasPassedIsOneBeforeItsContextSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := answers(nil, context.DeadlineExceeded)
		s, _ := open(t, redis.Config{WhenDown: redis.LetThrough}, c)
		ctx := silent{t.Context(), time.Now().Add(time.Second)}
		c.answer = func(context.Context) (any, error) { time.Sleep(time.Second); return nil, errors.New("i/o timeout") }
		if err := steps["begin"](ctx, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want DeadlineExceeded", err)
		}
	})
}

// silent has a deadline and does not say when it has passed.
type silent struct {
	context.Context
	end time.Time
}

func (s silent) Deadline() (time.Time, bool) { return s.end, true }
