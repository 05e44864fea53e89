package otelmw_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/otelmw"
	"github.com/backstay-go/backstay/retry"
)

// fixed is a Source that stands still.
type fixed []middleware.Status

func (f fixed) Statuses() []middleware.Status { return f }

func TestGaugesTellTheStateOfRegistriesThatComeLater(t *testing.T) {
	l := newLab(t)
	all := make(map[string]*middleware.Registry)
	l.Watch(otelmw.All(maps.All(all)))
	for _, name := range []string{"search", "stock"} {
		r, err := middleware.NewRegistry(middleware.Standard(name))
		if err != nil {
			t.Fatal(err)
		}
		r.Get("a.test", backstay.Now())
		all[name] = r
	}
	l.want("backstay.bulkhead.limit", map[string]float64{
		"backstay.key=a.test,backstay.policy=search": 64,
		"backstay.key=a.test,backstay.policy=stock":  64,
	})
}

func TestGaugesTellTheBulkheadOfAServer(t *testing.T) {
	l := newLab(t)
	server := func(limit int64) middleware.Server {
		return middleware.Server{Name: "orders", Bulkhead: &bulkhead.Config{Limit: limit}}
	}
	entrance, err := middleware.NewEntrance(server(5), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Watch(entrance)
	if _, err := entrance.Now().Bulkhead().Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	l.want("backstay.bulkhead.limit", map[string]float64{"backstay.policy=orders": 5})
	l.want("backstay.bulkhead.in_flight", map[string]float64{"backstay.policy=orders": 1})
	if err := entrance.Apply(server(9)); err != nil {
		t.Fatal(err)
	}
	l.want("backstay.bulkhead.limit", map[string]float64{"backstay.policy=orders": 9})
	if err := entrance.Apply(middleware.Server{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	l.want("backstay.bulkhead.limit", nil)
}

func TestGaugesTellTheStateOfEveryKey(t *testing.T) {
	l := newLab(t)
	hosts, err := middleware.NewRegistry(middleware.Standard("search"))
	if err != nil {
		t.Fatal(err)
	}
	hosts.Get("a.test", backstay.Now()).Breaker().ForceOpen()
	hosts.Get("b.test", backstay.Now())
	l.Watch(hosts)
	both := func(a, b float64) map[string]float64 {
		return map[string]float64{
			"backstay.key=a.test,backstay.policy=search": a,
			"backstay.key=b.test,backstay.policy=search": b,
		}
	}
	l.want("backstay.bulkhead.limit", both(64, 64))
	l.want("backstay.bulkhead.in_flight", both(0, 0))
	l.want("backstay.bulkhead.queued", both(0, 0))
	l.want("backstay.retry.budget.available", both(3, 3))
	want := make(map[string]float64)
	for _, state := range []string{"closed", "open", "half-open", "forced-open", "forced-closed", "metrics-only"} {
		want["backstay.key=a.test,backstay.policy=search,backstay.state="+state] = 0
		want["backstay.key=b.test,backstay.policy=search,backstay.state="+state] = 0
	}
	want["backstay.key=a.test,backstay.policy=search,backstay.state=forced-open"] = 1
	want["backstay.key=b.test,backstay.policy=search,backstay.state=closed"] = 1
	l.want("backstay.breaker.state", want)
	for name, unit := range map[string]string{
		"backstay.bulkhead.limit": "{permit}", "backstay.bulkhead.in_flight": "{permit}", "backstay.bulkhead.queued": "{call}",
		"backstay.retry.budget.available": "{retry}", "backstay.breaker.state": "{breaker}",
	} {
		if m := l.metric(name); m.Unit != unit {
			t.Errorf("%s has the unit %q, want %q", name, m.Unit, unit)
		}
	}
}

func TestEveryStateOfABreakerHasASeries(t *testing.T) {
	for _, s := range []breaker.State{breaker.Closed, breaker.Open, breaker.HalfOpen, breaker.ForcedOpen, breaker.ForcedClosed, breaker.MetricsOnly} {
		l := newLab(t)
		l.Watch(fixed{{Name: "p", Breaker: &middleware.BreakerStatus{State: s.String()}}})
		all := l.values("backstay.breaker.state")
		if all["backstay.policy=p,backstay.state="+s.String()] != 1 || len(all) != 6 {
			t.Errorf("%v: got %v", s, all)
		}
	}
}

func TestAGaugeFollowsCalls(t *testing.T) {
	l := newLab(t)
	p := l.pipeline(func(target *middleware.Target) { target.Retry = &retry.Config{Base: retry.NoWait, MaxAttempts: 2} })
	l.Watch(otelmw.Of(p))
	_, _ = middleware.Do(t.Context(), p, func(context.Context) (int, error) {
		l.want("backstay.bulkhead.in_flight", map[string]float64{"backstay.policy=payments": 1})
		return 0, errDown
	})
	l.want("backstay.bulkhead.in_flight", map[string]float64{"backstay.policy=payments": 0})
	if left := l.values("backstay.retry.budget.available")["backstay.policy=payments"]; left < 2 || left > 2.5 {
		t.Errorf("%v retries are left", left)
	}
}

func TestWhatAPipelineDoesNotHaveIsNotTold(t *testing.T) {
	l := newLab(t)
	l.Watch(otelmw.Of(
		l.pipeline(func(target *middleware.Target) { target.Config = middleware.Config{} }),
		l.pipeline(func(target *middleware.Target) {
			target.Config = middleware.Config{Bulkhead: &bulkhead.Config{Limit: bulkhead.Unlimited}}
		}),
		nil,
	))
	l.want("backstay.retry.budget.available", nil)
	l.want("backstay.breaker.state", nil)
	l.want("backstay.bulkhead.limit", nil)
	l.want("backstay.bulkhead.in_flight", map[string]float64{"backstay.policy=payments": 0})
}

func TestKeysBeyondTheLimitAreToldTogether(t *testing.T) {
	l := newLab(t, otelmw.WithMaxNames(1))
	status := func(key string, budget float64, state string) middleware.Status {
		return middleware.Status{
			Name: "p", Key: key, Budget: &middleware.BudgetStatus{Available: budget}, Breaker: &middleware.BreakerStatus{State: state},
			Bulkhead: &middleware.BulkheadStatus{InFlight: 2, Queued: 1, Limit: 10},
		}
	}
	l.Watch(fixed{status("a", 9, "closed"), status("b", 3, "open"), status("c", 4, "closed")})
	told := func(a, others float64) map[string]float64 {
		return map[string]float64{"backstay.key=a,backstay.policy=p": a, "backstay.key=other,backstay.policy=p": others}
	}
	l.want("backstay.bulkhead.in_flight", told(2, 4))
	l.want("backstay.bulkhead.queued", told(1, 2))
	l.want("backstay.bulkhead.limit", told(10, 20))
	l.want("backstay.retry.budget.available", told(9, 3))
	states := l.values("backstay.breaker.state")
	if states["backstay.key=other,backstay.policy=p,backstay.state=open"] != 1 || states["backstay.key=other,backstay.policy=p,backstay.state=closed"] != 1 {
		t.Errorf("got %v", states)
	}
}

func TestGaugesEndWithTheirSourceAndTheirObserver(t *testing.T) {
	l := newLab(t)
	one := fixed{{Name: "one", Bulkhead: &middleware.BulkheadStatus{Limit: 1}}}
	two := fixed{{Name: "two", Bulkhead: &middleware.BulkheadStatus{Limit: 2}}}
	stop := l.Watch(one)
	l.Watch(two)
	stop()
	stop()
	l.want("backstay.bulkhead.limit", map[string]float64{"backstay.policy=two": 2})
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l.Watch(one)()
	l.Watch(one)
	l.want("backstay.bulkhead.limit", nil)
	l.Observe(t.Context(), backstay.Event{Kind: backstay.CallDone})
	l.want("backstay.calls", map[string]float64{"backstay.outcome=success": 1})
}

// A Source without pipelines, say a registry that is nil, must not cost the
// process, nor the other metrics.
func TestASourceThatPanicsIsLeftOut(t *testing.T) {
	var told error
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { told = err }))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })
	l := newLab(t)
	l.Watch(nil, (*middleware.Registry)(nil), fixed{{Name: "one", Bulkhead: &middleware.BulkheadStatus{Limit: 1}}})
	l.want("backstay.bulkhead.limit", map[string]float64{"backstay.policy=one": 1})
	if told == nil || !strings.HasPrefix(told.Error(), "otelmw: a source of gauges panicked") {
		t.Errorf("told %v", told)
	}
}

// Collecting, watching, closing and counting may all happen at once.
func TestGaugesAreReadWhileEverythingElseGoesOn(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	o := observer(t, otelmw.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))), otelmw.WithMaxNames(8))
	hosts, err := middleware.NewRegistry(middleware.Standard("search"), middleware.WithObserver(o))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 100 {
				key := fmt.Sprint("host", (g*7+i)%16)
				_, _ = middleware.Do(t.Context(), hosts.Get(key, backstay.Now()), failsFirst(i%2))
				stop := o.Watch(hosts)
				if i%10 == 0 {
					var rm metricdata.ResourceMetrics
					if err := reader.Collect(t.Context(), &rm); err != nil {
						t.Error(err)
					}
				}
				stop()
			}
		})
	}
	all.Go(func() { _ = o.Close() })
	all.Wait()
}
