package retry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// listed is a BackOff that gives the waits of a list and then Stop.
type listed struct {
	waits  []time.Duration
	next   int
	resets int
}

func (l *listed) NextBackOff() time.Duration {
	if l.next >= len(l.waits) {
		return backoff.Stop
	}
	l.next++
	return l.waits[l.next-1]
}

func (l *listed) Reset() { l.next, l.resets = 0, l.resets+1 }

func TestABackOffReplacesOurWaitsAndIsMadeOncePerFailingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []*listed
		seen := &told{}
		p := policy(t, retry.Config{MaxAttempts: 5, Budget: retry.NoBudget}, observed(seen), retry.WithBackOff(func() backoff.BackOff {
			made = append(made, &listed{waits: []time.Duration{time.Second, -7, 3 * time.Second}})
			return made[len(made)-1]
		}))
		if _, err := retry.Do(t.Context(), p, failing()); err != nil || len(made) != 0 {
			t.Errorf("a success made %d, %v", len(made), err)
		}
		calls := 0
		_, err := retry.Do(t.Context(), p, always(errDown, &calls))
		if want := []time.Duration{time.Second, 0, 3 * time.Second}; !slices.Equal(seen.waits(), want) {
			t.Errorf("waited %v, want %v", seen.waits(), want)
		}
		var gaveUp *retry.ExhaustedError
		if !errors.As(err, &gaveUp) || gaveUp.Reason != backstay.ReasonExhausted || calls != 4 {
			t.Errorf("Stop after the third wait: got %v after %d attempts", err, calls)
		}
		if len(made) != 1 || made[0].resets != 1 {
			t.Errorf("made %d", len(made))
		}
		if _, err := retry.Do(t.Context(), p, failing(errDown)); err != nil || len(made) != 2 {
			t.Errorf("the second call made %d, %v", len(made), err)
		}
	})
}

func TestPushbackResetsABackOff(t *testing.T) {
	pushed := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Overload, RetryAfter: time.Minute, Marks: backstay.Marks{Pushback: true}})
	synctest.Test(t, func(t *testing.T) {
		seen := &told{}
		p := policy(t, retry.Config{MaxAttempts: 5, MaxServerWait: time.Hour}, observed(seen),
			retry.WithBackOff(func() backoff.BackOff { return &listed{waits: []time.Duration{1, 2, 3}} }))
		if _, err := retry.Do(t.Context(), p, failing(errDown, pushed, errDown, errDown)); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{1, time.Minute, 1, 2}; !slices.Equal(seen.waits(), want) {
			t.Errorf("waited %v, want %v", seen.waits(), want)
		}
	})
}

// A zero ExponentialBackOff believes that it has run since the year 1.
func TestABackOffIsResetBeforeUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, retry.Config{}, retry.WithBackOff(func() backoff.BackOff {
			return &backoff.ExponentialBackOff{
				InitialInterval: time.Second, Multiplier: 2, MaxInterval: time.Minute,
				MaxElapsedTime: time.Hour, Stop: backoff.Stop, Clock: backoff.SystemClock,
			}
		}))
		if got, err := retry.Do(t.Context(), p, failing(errDown, errDown)); got != 3 || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestAFactoryMayLeaveTheWaitsToThePolicy(t *testing.T) {
	p := policy(t, retry.Config{Base: retry.NoWait}, retry.WithBackOff(func() backoff.BackOff { return nil }))
	if got, err := retry.Do(t.Context(), p, failing(errDown, errDown)); got != 3 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestBackoffPermanentIsHonouredAnywhereInTheChain(t *testing.T) {
	calls := 0
	wrapped := errors.Join(errors.New("context"), backoff.Permanent(errDown))
	_, err := retry.Do(t.Context(), policy(t, retry.Config{Base: retry.NoWait}), func(ctx context.Context) (int, error) {
		calls++
		if retry.Attempt(ctx) == 2 {
			return 0, wrapped
		}
		return 0, errors.New("first")
	})
	if !same(err, wrapped) || calls != 2 {
		t.Errorf("got %v after %d attempts", err, calls)
	}
}
