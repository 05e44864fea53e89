package idempotency_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// The first copy times out at the client after 2 s, while the work,
// which heeds its context, takes 5 s. The retry arrives at 3 s.
// Acceptance case C57.
func TestC57_TheRetryOfACallThatTimedOutGetsTheFirstsAnswer(t *testing.T) {
	for name, give := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"its deadline had travelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second)
		},
		"its connection was closed": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(2*time.Second, cancel)
			return ctx, cancel
		},
	} {
		t.Run(name, func(t *testing.T) {
			waitingOrNot(t, func(t *testing.T, guard *idempotency.Guard) {
				var runs atomic.Int32
				work := func(ctx context.Context) (idempotency.Answer, error) {
					runs.Add(1)
					return lasting(5*time.Second, "the first's")(ctx)
				}
				began := time.Now()
				go func() {
					ctx, cancel := give(t.Context())
					defer cancel()
					if _, _, err := guard.Run(ctx, request("k", "body"), work); err != nil {
						t.Errorf("the first: %v", err)
					}
				}()
				time.Sleep(3 * time.Second)
				got, replayed, err := comeBack(t, guard, work)
				if err != nil || !replayed || string(got.Data) != "the first's" || runs.Load() != 1 {
					t.Errorf("the retry got %q, replayed %t, %v; the work ran %d times", got.Data, replayed, err, runs.Load())
				}
				if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
					t.Errorf("the answer came after %v, want 5s to 6s", took)
				}
			})
		})
	}
}

// waitingOrNot runs a test with a guard that lets repetitions wait, and with one
// that sends them away.
func waitingOrNot(t *testing.T, f func(t *testing.T, guard *idempotency.Guard)) {
	for name, c := range map[string]idempotency.GuardConfig{
		"and waits": {}, "and comes back": {MaxWait: idempotency.NoWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, newGuard(t, c)) })
		})
	}
}

// comeBack is a client that does what a 409 with Retry-After asks for.
func comeBack(t *testing.T, guard *idempotency.Guard, work func(context.Context) (idempotency.Answer, error)) (idempotency.Answer, bool, error) {
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		got, replayed, err := guard.Run(ctx, request("k", "body"), work)
		cancel()
		refused, ok := errors.AsType[*idempotency.Error](err)
		if !ok || !errors.Is(err, idempotency.ErrInFlight) {
			return got, replayed, err
		}
		time.Sleep(refused.RetryAfter)
	}
}
