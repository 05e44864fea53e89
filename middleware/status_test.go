package middleware_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

func TestTheStatusTellsOfEveryPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := middleware.Target{Name: "catalog", Config: middleware.Config{
			Retry: &retry.Config{Base: retry.NoWait}, Hedge: &hedge.Config{Delay: 10 * ms},
			Breaker: &breaker.Config{Consecutive: 2}, Bulkhead: &bulkhead.Config{Limit: 2, MaxQueue: 5},
			Timeout: &timeout.Config{Abandon: true},
		}}
		r := registry(t, target)
		p := r.Get("host", backstay.Now())
		if s := p.Status(); s.Name != "catalog" || s.Key != "host" || s.Closed || s.Budget.Available != 3 ||
			*s.Breaker != (middleware.BreakerStatus{State: "closed"}) || *s.Bulkhead != (middleware.BulkheadStatus{Limit: 2}) ||
			*s.Hedge != (middleware.HedgeStatus{Delay: 10 * ms, Tokens: 10}) {
			t.Errorf("at rest: %+v", s)
		}
		for range 3 { // two have permits, one waits
			go func() { _, _ = middleware.Do(t.Context(), p, deaf(time.Second)) }()
		}
		synctest.Wait()
		if s := p.Status(); *s.Bulkhead != (middleware.BulkheadStatus{InFlight: 2, Queued: 1, Limit: 2}) || !s.Hedge.Suspended || s.Hedge.Delay != 10*ms {
			t.Errorf("full: %+v, %+v", s.Bulkhead, s.Hedge)
		}
		time.Sleep(time.Minute)
		leaveBehind(t.Context(), p, time.Second)
		synctest.Wait() // the copy leaves its attempt behind, and is gone
		if s := p.Status(); s.Hedge.Copies != 0 || s.Abandoned != 1 || s.Hedge.Tokens >= 10 {
			t.Errorf("with an abandoned copy: %+v, %d abandoned", s.Hedge, s.Abandoned)
		}
		time.Sleep(time.Minute)
		for range 2 {
			_, _ = middleware.Do(t.Context(), p, fails)
		}
		if s := p.Status(); s.Breaker.State != "open" || s.Budget.Available >= 3 {
			t.Errorf("in trouble: %+v, %+v", s.Breaker, s.Budget)
		}
		_ = r.Close(t.Context())
		if s := p.Status(); !s.Closed {
			t.Errorf("closed: %+v", s)
		}
	})
}

func TestTheStatusCountsLateCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}}))
		leaveBehind(t.Context(), p, time.Second)
		if s := p.Status(); s.Hedge.Copies != 1 || s.Abandoned != 0 {
			t.Errorf("with a late copy: %+v, %d abandoned", s.Hedge, s.Abandoned)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTheStatusCountsTheWindow(t *testing.T) {
	p := made(t, only(middleware.Config{Breaker: &breaker.Config{Consecutive: 5}}))
	for _, f := range []func(*testing.T){
		func(t *testing.T) { _, _ = middleware.Do(t.Context(), p, succeeds) },
		func(t *testing.T) { _, _ = middleware.Do(t.Context(), p, fails) },
		func(t *testing.T) { _, _ = middleware.Do(t.Context(), p, fails) },
	} {
		f(t)
	}
	if s := p.Status(); *s.Breaker != (middleware.BreakerStatus{State: "closed", Calls: 3, Failures: 2, Consecutive: 2}) {
		t.Errorf("%+v", s.Breaker)
	}
}

func TestWhatIsAbsentIsAbsentFromTheStatus(t *testing.T) {
	for name, c := range map[string]middleware.Config{
		"nothing": {}, "a budget that is off": {Retry: &retry.Config{Budget: retry.NoBudget}},
	} {
		text, err := json.Marshal(made(t, only(c)).Status())
		if err != nil || string(text) != `{"name":"test"}` {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	unlimited := made(t, only(middleware.Config{Bulkhead: &bulkhead.Config{Limit: bulkhead.Unlimited}}))
	if got := unlimited.Status().Bulkhead.Limit; got != bulkhead.Unlimited {
		t.Errorf("no limit is %d", got)
	}
}

func TestStatusesAreOrderedByKey(t *testing.T) {
	r := registry(t, middleware.Standard("catalog"))
	if s := r.Statuses(); s == nil || len(s) != 0 {
		t.Errorf("of no key: %v", s)
	}
	for _, key := range []string{"c", "a", "b"} {
		_, _ = through(t.Context(), r, key, succeeds)
	}
	text, err := json.Marshal(r.Statuses()[:1])
	want := `[{"name":"catalog","key":"a","budget":{"available":3.1},` +
		`"breaker":{"state":"closed","calls":1,"failures":0,"slow":0,"consecutive":0},` +
		`"bulkhead":{"in_flight":0,"queued":0,"limit":64}}]`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
	for i, key := range []string{"a", "b", "c"} {
		if got := r.Statuses()[i].Key; got != key {
			t.Errorf("place %d: %q", i, got)
		}
	}
}
