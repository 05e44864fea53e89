package chaos_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
	"github.com/backstay-go/backstay/retry"
)

func TestEveryKindOfFaultIsToldOfOnce(t *testing.T) {
	for _, kind := range middleware.FaultKinds() {
		for _, latency := range []time.Duration{0, time.Second} {
			synctest.Test(t, func(t *testing.T) {
				f := always(kind)
				if latency > 0 {
					f.Latency.Mean = latency
				}
				i, seen := watched(t, f)
				ctx, report := backstay.WithReport(t.Context())
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				_, _, _ = get(ctx, t, chaos.NewTransport(new(backend), i))
				events := seen.Take()
				if len(events) != 1 {
					t.Fatalf("%s: %d events", kind, len(events))
				}
				e := events[0]
				mark, ok := errors.AsType[*chaos.InjectedError](e.Err)
				if e.Kind != backstay.FaultInjected || e.Policy != "payments" || e.Key != "payments.test" ||
					string(e.Reason) != f.Name || e.Wait != f.Latency.Mean || e.Attempt != 1 || e.Copy != 1 || !ok || mark.Kind != kind {
					t.Errorf("%+v", e)
				}
				if got := report.Summary().Injected; !slices.Equal(got, []string{f.Name}) {
					t.Errorf("%s: the report says %q", kind, got)
				}
			})
		}
	}
}

// The report of a call is hidden from what its attempts call, but not from the
// faults of the attempts.
func TestTheReportOfACallNamesTheFaultsOfItsAttempts(t *testing.T) {
	seen := new(testkit.Recorder)
	p, err := middleware.New(middleware.Target{
		Name: "payments", Config: middleware.Config{Retry: &retry.Config{Base: retry.NoWait}},
	}, middleware.WithObserver(seen))
	if err != nil {
		t.Fatal(err)
	}
	slow, down := always(middleware.FaultLatency), always(middleware.FaultReset)
	down.Share = 0.5
	draws := []float64{0, 0, 0.4, 0, 0, 0.6} // hit, latency, hit; hit, latency, spared
	i, err := chaos.New([]middleware.Fault{slow, down},
		chaos.WithScope(&backstay.Scope{Policy: "payments", Key: "one", Observer: seen}),
		chaos.WithRandom(func() float64 {
			u := draws[0]
			draws = draws[1:]
			return u
		}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, report := backstay.WithReport(t.Context())
	_, err = middleware.Do(ctx, p, func(ctx context.Context) (string, error) {
		return chaos.Do(ctx, i, chaos.Request{Host: "h"}, succeeds)
	})
	if got := report.String(); err != nil || got[:len("success after 2 attempts")] != "success after 2 attempts" ||
		!slices.Equal(report.Summary().Injected, []string{"latency", "reset", "latency"}) {
		t.Errorf("%v: %s", err, got)
	}
	var attempts []int
	for _, e := range seen.Events(backstay.FaultInjected) {
		attempts = append(attempts, e.Attempt)
		if e.Key != "one" {
			t.Errorf("key %q", e.Key)
		}
	}
	if !slices.Equal(attempts, []int{1, 1, 2}) {
		t.Errorf("attempts %v", attempts)
	}
}
