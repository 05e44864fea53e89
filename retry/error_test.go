package retry_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

func TestErrorTexts(t *testing.T) {
	named := retry.WithScope(&backstay.Scope{Policy: "payments", Key: "host-a"})
	cancelled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(1500*time.Millisecond, func() { cancel(errEnough) })
		return ctx
	}
	tests := map[string]struct {
		option retry.Option
		ctx    func(context.Context) context.Context
		x      protocol
		err    error
		want   string
	}{
		"exhausted":          {nil, nil, protocol{}, errDown, "retry: gave up after 3 attempts in 2s: backend down"},
		"exhausted, by name": {named, nil, protocol{}, errDown, "retry payments[host-a]: gave up after 3 attempts in 2s: backend down"},
		"no time": {
			nil, nil, protocol{}, backstay.RetryAfter(errDown, time.Hour),
			"retry: gave up after 1 attempt in 0s because a wait of 1h0m0s does not fit: backend down",
		},
		"cancelled": {
			nil, cancelled, protocol{}, errDown,
			"retry: context canceled: the user closed the window after 2 attempts; the last failure: backend down",
		},
		"cancelled after an answer": {
			nil, cancelled, protocol{}, nil,
			"retry: context canceled: the user closed the window after 2 attempts",
		},
		"no request": {
			named, nil, protocol{fork: errors.New("no body")}, errDown,
			"retry payments[host-a]: attempt 2 could not be made: no body; the last failure: backend down",
		},
		"no request after an answer": {
			nil, nil, protocol{fork: errors.New("no body")}, nil,
			"retry: attempt 2 could not be made: no body",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := []retry.Option{constant(time.Second)}
				if test.option != nil {
					options = append(options, test.option)
				}
				ctx := t.Context()
				if test.ctx != nil {
					ctx = test.ctx(ctx)
				}
				_, err := retry.Run(ctx, policy(t, retry.Config{}, options...), &test.x, 0,
					func(context.Context, int) (*answer, error) { return unavailable(), test.err })
				if err == nil || err.Error() != test.want {
					t.Errorf("got  %v\nwant %v", err, test.want)
				}
			})
		})
	}
}

// http.Client asks the error that it wraps in a url.Error, and not the chain.
func TestATimeoutStaysATimeout(t *testing.T) {
	for last, want := range map[error]bool{errDown: false, os.ErrDeadlineExceeded: true} {
		err := &url.Error{Err: &retry.ExhaustedError{Last: last}}
		if got := err.Timeout(); got != want {
			t.Errorf("%v is a timeout: %v", last, got)
		}
	}
}

func TestAnExhaustedErrorHasTheClassOfTheLastFailure(t *testing.T) {
	o := backstay.Outcome{Class: backstay.Overload, RetryAfter: time.Second}
	err := error(&retry.ExhaustedError{Last: backstay.Mark(errDown, o)})
	if got := backstay.Classify(err); got != o {
		t.Errorf("is %+v", got)
	}
}

func TestAnEmptyBudgetIsNamedAndHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Overload, RetryAfter: time.Second})
		empty := retry.Config{Budget: retry.BudgetConfig{Burst: retry.NoBurst}}
		named := retry.WithScope(&backstay.Scope{Policy: "payments"})
		_, err := retry.Do(t.Context(), policy(t, empty, named), always(cause, new(int)))
		want := "retry payments: gave up after 1 attempt in 0s because the retry budget is empty: backend down"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		given, ok := errors.AsType[*retry.ExhaustedError](err)
		if !ok || given.Reason != backstay.ReasonBudgetEmpty || given.Attempts != 1 || !errors.Is(err, errDown) || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("got %+v", err)
		}
		if got := backstay.Classify(err); got != backstay.Classify(cause) {
			t.Errorf("judged as %v", got)
		}
	})
}
