package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// everything is a target whose breaker opens at once, and not for long.
func everything(abandon bool) middleware.Target {
	return only(middleware.Config{
		Deadline: &deadline.Config{}, Retry: &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget},
		Hedge:    &hedge.Config{Delay: 10 * ms, Budget: hedge.BudgetConfig{Burst: 100}},
		Breaker:  &breaker.Config{Consecutive: 1, OpenFor: time.Millisecond},
		Bulkhead: &bulkhead.Config{Limit: 2}, Timeout: &timeout.Config{Abandon: abandon},
	})
}

// fate is what f did to its goroutine: what it panicked with, or whether it
// left without a word.
func fate(f func()) (value any, exited bool) {
	type end struct {
		value  any
		exited bool
	}
	ended := make(chan end, 1)
	go func() {
		returned := false
		defer func() {
			v := recover()
			ended <- end{v, v == nil && !returned}
		}()
		f()
		returned = true
	}()
	e := <-ended
	return e.value, e.exited
}

type caller func(context.Context, *middleware.Pipeline, func(context.Context) (int, error))

var callers = map[string]caller{
	"Do": func(ctx context.Context, p *middleware.Pipeline, f func(context.Context) (int, error)) {
		_, _ = middleware.Do(ctx, p, f)
	},
	"Race": func(ctx context.Context, p *middleware.Pipeline, f func(context.Context) (int, error)) {
		_, _ = middleware.Race(ctx, p, nil, f)
	},
	"Race, second copy": func(ctx context.Context, p *middleware.Pipeline, f func(context.Context) (int, error)) {
		_, _ = middleware.Race(ctx, p, nil, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 1 {
				return slow(time.Second)(ctx)
			}
			return f(ctx)
		})
	},
}

// Acceptance case C51.
func TestC51_APanicReachesTheCallerAndFreesEverything(t *testing.T) {
	for how, end := range map[string]func(){
		"panics":     func() { panic("boom") },
		"calls exit": runtime.Goexit,
	} {
		for name, call := range callers {
			for _, abandon := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s in %s, abandon %v", how, name, abandon), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						seen := new(journal)
						p := made(t, everything(abandon), middleware.WithObserver(seen))
						for range 20 { // more than there are permits
							value, exited := fate(func() {
								call(t.Context(), p, func(context.Context) (int, error) { end(); return 0, nil })
							})
							if exited != (how == "calls exit") || !exited && value != "boom" {
								t.Fatalf("recovered %v, exited %v", value, exited)
							}
							if s := p.Breaker().State(); s == breaker.Closed {
								t.Error("it does not count as a failure")
							}
							if name == "Race, second copy" {
								p.Breaker().Reset() // there are no copies among probes
							} else {
								time.Sleep(time.Minute) // the next call is a probe
							}
						}
						synctest.Wait() // for first copies that have lost
						if n := p.Bulkhead().InFlight(); n != 0 {
							t.Errorf("%d permits are lost", n)
						}
						if n := seen.counts(); n[backstay.CallDone] != 20 {
							t.Errorf("events %v", n)
						}
						if _, err := middleware.Race(t.Context(), p, nil, succeeds); err != nil {
							t.Errorf("afterwards: %v", err)
						}
					})
				})
			}
		}
	}
}

func TestAReportOfAPanicSaysWhatWasSent(t *testing.T) {
	seen := new(journal)
	p := made(t, middleware.Standard("test"), middleware.WithObserver(seen))
	ctx, report := backstay.WithReport(t.Context())
	_, _ = fate(func() { _, _ = middleware.Do(ctx, p, func(context.Context) (int, error) { panic("boom") }) })
	if s := report.Summary(); s.Attempts != 1 || s.Outcome.Class != backstay.Fault {
		t.Errorf("report %+v", s)
	}
	if e := seen.of(backstay.CallDone, backstay.AttemptDone); len(e) != 2 || e[0].Outcome.Class != backstay.Fault || e[1].Attempt != 1 {
		t.Errorf("events %+v", e)
	}
}

func TestAnObserverMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		bomb := backstay.ObserverFunc(func(context.Context, backstay.Event) { calls++; panic("observer") })
		p := made(t, middleware.Standard("test"), middleware.WithObserver(bomb))
		if got, err := middleware.Do(t.Context(), p, succeeds); got != 7 || err != nil || calls == 0 {
			t.Errorf("%d, %v after %d events", got, err, calls)
		}
		if _, err := middleware.Do(t.Context(), p, fails); !errors.Is(err, errDown) {
			t.Error(err)
		}
		if n := p.Bulkhead().InFlight(); n != 0 {
			t.Errorf("%d permits are lost", n)
		}
	})
}

func TestAnObserverMayUseThePipeline(t *testing.T) {
	var p *middleware.Pipeline
	inside := false
	p = made(t, everything(false), middleware.WithObserver(backstay.ObserverFunc(func(ctx context.Context, e backstay.Event) {
		_ = p.Status()
		if e.Kind == backstay.CallDone && !inside {
			inside = true
			if _, err := middleware.Do(context.WithoutCancel(ctx), p, succeeds); err != nil {
				t.Error(err)
			}
		}
	})))
	if _, err := middleware.Do(t.Context(), p, succeeds); err != nil || !inside {
		t.Errorf("%v, %v", err, inside)
	}
}
