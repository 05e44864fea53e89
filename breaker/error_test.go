package breaker_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

func TestOpenErrorSaysWhoAndForHowLong(t *testing.T) {
	for _, c := range []struct {
		err  breaker.OpenError
		want string
	}{
		{breaker.OpenError{State: breaker.Open, RetryAfter: 4200 * time.Millisecond}, "breaker: open, next probe in 4.2s"},
		{breaker.OpenError{Name: "db", State: breaker.Open, RetryAfter: 1234567890}, `breaker db: open, next probe in 1.235s`},
		{breaker.OpenError{Name: "db", State: breaker.Open, RetryAfter: 5 * time.Microsecond}, `breaker db: open, next probe in 5µs`},
		{breaker.OpenError{Name: "db", State: breaker.HalfOpen}, `breaker db: half-open, its probes are under way`},
		{breaker.OpenError{Name: "db", State: breaker.ForcedOpen}, `breaker db: held open by hand`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestOpenErrorIsARejectionWithoutAServersWait(t *testing.T) {
	err := fmt.Errorf("charge: %w", &breaker.OpenError{State: breaker.Open, RetryAfter: time.Second})
	if !errors.Is(err, breaker.ErrOpen) || !errors.Is(err, backstay.ErrRejected) || errors.Is(err, errBackend) {
		t.Error("it matches the wrong errors")
	}
	if got, want := backstay.Classify(err), (backstay.Outcome{Class: backstay.Rejected}); got != want {
		t.Errorf("judged %+v, want %+v", got, want)
	}
}

func TestRejectionsTellTheTimeThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, twoFailures())
		trip(t, b)
		rejection := func() breaker.OpenError {
			err, ok := errors.AsType[*breaker.OpenError](call(t.Context(), b, nil))
			if !ok {
				t.Fatal("not rejected")
			}
			return *err
		}
		time.Sleep(300 * time.Millisecond)
		want := breaker.OpenError{Name: "payments[db]", RetryAfter: 700 * time.Millisecond, State: breaker.Open}
		if got := rejection(); got != want {
			t.Errorf("open: %+v, want %+v", got, want)
		}
		time.Sleep(700 * time.Millisecond)
		probe := must(b.Allow(t.Context()))
		want.RetryAfter, want.State = 0, breaker.HalfOpen
		for range 2 { // the first asks gobreaker, the second need not
			if got := rejection(); got != want {
				t.Errorf("half-open: %+v, want %+v", got, want)
			}
		}
		probe.Done(t.Context(), success, 0)
		b.ForceOpen()
		want.State = breaker.ForcedOpen
		if got := rejection(); got != want {
			t.Errorf("forced open: %+v, want %+v", got, want)
		}
	})
}

func TestStatesHaveNames(t *testing.T) {
	for s, want := range []string{"closed", "open", "half-open", "forced-open", "forced-closed", "metrics-only", "unknown"} {
		if got := breaker.State(s).String(); got != want {
			t.Errorf("state %d is %q, want %q", s, got, want)
		}
	}
}
