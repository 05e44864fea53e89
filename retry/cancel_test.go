package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

var errEnough = errors.New("the user closed the window")

// Acceptance case C24.
func TestC24_CancelBetweenAttempts(t *testing.T) {
	overloaded := backstay.RetryAfter(errDown, 10*time.Second)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errEnough) })
		began, calls := time.Now(), 0
		_, err := retry.Do(ctx, policy(t, retry.Config{}), always(overloaded, &calls))
		if waited := time.Since(began); waited != time.Second || calls != 1 {
			t.Errorf("%d attempts in %v", calls, waited)
		}
		for _, want := range []error{context.Canceled, errEnough, errDown} {
			if !errors.Is(err, want) {
				t.Errorf("%v does not match %v", err, want)
			}
		}
		if errors.Is(err, retry.ErrExhausted) {
			t.Errorf("%v looks exhausted", err)
		}
		// The failure was an overload. That the caller left counts for more.
		if got := backstay.Classify(err); got.Class != backstay.Canceled || got.RetryAfter != 0 {
			t.Errorf("is %+v", got)
		}
	})
}

// Acceptance case C24.
func TestC24_TheDeadlinePassesBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := retry.Do(hidden{parent}, policy(t, retry.Config{}, constant(time.Minute)), failing(errDown))
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errDown) {
			t.Errorf("got %v", err)
		}
		var timedOut interface{ Timeout() bool }
		if !errors.As(err, &timedOut) || !timedOut.Timeout() {
			t.Errorf("%v is no timeout", err)
		}
	})
}

// hidden is a context that does not tell its deadline.
type hidden struct{ context.Context }

func (hidden) Deadline() (end time.Time, ok bool) { return time.Time{}, false }

// Acceptance case C24.
func TestC24_CancelAfterAnAnswerThatWasDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		first := unavailable()
		r, err := retry.Run(ctx, policy(t, retry.Config{}, constant(time.Minute)), &protocol{}, 0,
			func(context.Context, int) (*answer, error) { return first, nil })
		if r != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

// Acceptance case C24.
func TestC24_TheLastErrorIsKeptThoughAnAnswerCameAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(90*time.Second, cancel)
		_, err := retry.Run(ctx, policy(t, retry.Config{}, constant(time.Minute)), &protocol{}, 0,
			func(ctx context.Context, _ int) (*answer, error) {
				if retry.Attempt(ctx) == 1 {
					return nil, errDown
				}
				return unavailable(), nil
			})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, errDown) {
			t.Errorf("got %v", err)
		}
	})
}

// Acceptance case C24.
func TestC24_CancelInALaterAttemptKeepsTheFailureBefore(t *testing.T) {
	cut := errors.New("connection cut")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := retry.Do(ctx, policy(t, retry.Config{Base: retry.NoWait}), func(ctx context.Context) (int, error) {
		if retry.Attempt(ctx) == 1 {
			return 0, errDown
		}
		cancel(errEnough)
		return 0, cut
	})
	for _, want := range []error{context.Canceled, errEnough, errDown, cut} {
		if !errors.Is(err, want) {
			t.Errorf("%v does not match %v", err, want)
		}
	}
}

func TestCancelInTheFirstAttemptReturnsItsOwnError(t *testing.T) {
	cut := errors.New("connection cut")
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := retry.Do(ctx, policy(t, retry.Config{}), func(context.Context) (int, error) {
		calls++
		cancel()
		return 0, cut
	})
	if !same(err, cut) || calls != 1 {
		t.Errorf("got %v after %d attempts", err, calls)
	}
}

func TestACancelBetweenAttemptsThatFollowAtOnceIsSeen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	first := unavailable()
	_, err := retry.Run(ctx, policy(t, retry.Config{Base: retry.NoWait}), &protocol{}, 0,
		func(context.Context, int) (*answer, error) {
			calls++
			cancel()
			return first, nil
		})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("got %v after %d attempts", err, calls)
	}
}

// Acceptance case C24.
func TestC24_CancelledBeforeTheFirstAttempt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	p := policy(t, retry.Config{})
	calls := 0
	_, err := retry.Do(ctx, p, always(errDown, &calls))
	if calls != 0 {
		t.Errorf("%d attempts", calls)
	}
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errEnough) {
		t.Errorf("got %v", err)
	}
	if got := p.Budget().Available(); got != 3 {
		t.Errorf("%v tokens: the call earned for nothing", got)
	}
}
