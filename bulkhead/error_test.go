package bulkhead_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

func TestAFullErrorSaysWhoAndWhyAndWhatNext(t *testing.T) {
	for _, c := range []struct {
		err  bulkhead.FullError
		want string
	}{
		{
			bulkhead.FullError{Name: "payments[eu]", InFlight: 64, Limit: 64, Queued: 10},
			"bulkhead payments[eu]: full: 64 of 64 in flight, 10 queued",
		}, {
			bulkhead.FullError{InFlight: 1, Limit: 1, Err: context.DeadlineExceeded},
			"bulkhead: full: 1 of 1 in flight, 0 queued: context deadline exceeded",
		}, {
			bulkhead.FullError{Weight: 9, Limit: 8},
			"bulkhead: a call of weight 9 never fits into a limit of 8",
		}, {
			bulkhead.FullError{Weight: 1, Limit: bulkhead.Unlimited, Reason: backstay.ReasonRateLimited, RetryAfter: time.Second},
			"bulkhead: too many calls per second: next one in 1s",
		},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestAFullErrorIsARefusal(t *testing.T) {
	err := error(&bulkhead.FullError{RetryAfter: time.Second, Err: context.DeadlineExceeded})
	for _, want := range []error{bulkhead.ErrFull, backstay.ErrRejected, context.DeadlineExceeded} {
		if !errors.Is(err, want) {
			t.Errorf("does not match %v", want)
		}
	}
	if errors.Is(err, context.Canceled) {
		t.Error("matches context.Canceled")
	}
	want := backstay.Outcome{Class: backstay.Rejected, RetryAfter: time.Second}
	if got := backstay.Classify(err); got != want {
		t.Errorf("judged %+v", got)
	}
}

func TestARefusalIsToldOnceToTheObserverAndTheReport(t *testing.T) {
	var seen events
	b := must(bulkhead.New(bulkhead.Config{Limit: 1}))
	b = b.Clone(&backstay.Scope{Policy: "payments", Key: "eu", Observer: &seen})
	acquire(t, b)
	ctx, report := backstay.WithReport(t.Context())
	_, err := bulkhead.Do(ctx, b, nothing)
	if full := wantFull(t, err); full.Name != "payments[eu]" {
		t.Errorf("named %q", full.Name)
	}
	if got := report.Summary().Reason; got != backstay.ReasonBulkheadFull {
		t.Errorf("the report says %q", got)
	}
	if len(seen.Events()) != 1 {
		t.Fatalf("told of %d events", len(seen.Events()))
	}
	e := seen.Events()[0]
	if e.Kind != backstay.CallRejected || e.Reason != backstay.ReasonBulkheadFull || !errors.Is(e.Err, err) || e.Policy != "payments" || e.Key != "eu" || e.Outcome.Class != backstay.Rejected {
		t.Errorf("told %+v", e)
	}
}

func TestAnObserverMayUseTheBulkheadAndPanic(t *testing.T) {
	var b *bulkhead.Bulkhead
	asked := 0
	b = must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 0}, bulkhead.WithScope(&backstay.Scope{
		Observer: backstay.ObserverFunc(func(ctx context.Context, e backstay.Event) {
			if asked++; asked == 1 {
				b.TryAcquire(ctx, 1)
				_ = b.SetLimit(1)
				panic("observer")
			}
		}),
	})))
	permit := acquire(t, b)
	_, err := b.Acquire(t.Context(), 1)
	if wantFull(t, err); asked != 2 {
		t.Errorf("told %d times, want the event and the panic", asked)
	}
	permit.Release(backstay.Outcome{})
	wantIdle(t, b)
}
