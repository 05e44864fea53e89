package chaos_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

// lasts is how long f takes, in virtual time.
func lasts(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func TestALatencyHoldsTheCallUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, down := always(middleware.FaultLatency), always(middleware.FaultReset)
		slow.Latency.Mean, down.Latency.Mean = 3*time.Second, 4*time.Second
		took := lasts(func() {
			if status, _, err := get(t.Context(), t, chaos.NewTransport(new(backend), injector(t, slow))); status != 200 || err != nil {
				t.Error(status, err)
			}
		})
		if took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		took = lasts(func() {
			if _, _, err := get(t.Context(), t, chaos.NewTransport(new(backend), injector(t, slow, down))); err == nil {
				t.Error("no error")
			}
		})
		if took != 7*time.Second {
			t.Errorf("a latency and a late reset took %v", took)
		}
	})
}

func TestEveryHoldEndsWithItsContext(t *testing.T) {
	gone := errors.New("gone")
	for _, kind := range []middleware.FaultKind{middleware.FaultLatency, middleware.FaultBlackHole, middleware.FaultStalled} {
		synctest.Test(t, func(t *testing.T) {
			f := always(kind)
			if kind == middleware.FaultLatency {
				f.Latency.Mean = time.Minute
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, gone)
			defer cancel()
			took := lasts(func() {
				_, _, err := get(ctx, t, chaos.NewTransport(new(backend), injector(t, f)))
				mark, ok := errors.AsType[*chaos.InjectedError](err)
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, gone) || !ok || mark.Kind != kind || !mark.Timeout() {
					t.Errorf("%s: %v", kind, err)
				}
			})
			if took != time.Second {
				t.Errorf("%s took %v", kind, took)
			}
		})
	}
}

func TestAStalledBodyIsWokenByItsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(middleware.FaultStalled)
		f.After = 5
		server := new(backend)
		resp, err := chaos.NewTransport(server, injector(t, f)).RoundTrip(request(t.Context(), t, http.MethodGet))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() { _ = resp.Body.Close() })
		var text []byte
		took := lasts(func() { text, err = io.ReadAll(resp.Body) })
		if string(text) != "hello" || !errors.Is(err, http.ErrBodyReadAfterClose) || took != time.Minute || server.body.closed.Load() != 1 {
			t.Errorf("%q, %v after %v", text, err, took)
		}
	})
}

// held are the faults that hold calls up for longer than an hour.
func held(until time.Time) []middleware.Fault {
	var all []middleware.Fault
	for _, kind := range []middleware.FaultKind{middleware.FaultLatency, middleware.FaultReset, middleware.FaultBlackHole, middleware.FaultStalled} {
		f := always(kind)
		f.Until = until
		if kind == middleware.FaultLatency || kind == middleware.FaultReset {
			f.Latency.Mean = time.Hour
		}
		all = append(all, f)
	}
	return all
}

func TestWhatIsHeldUpGoesOnWhenTheTimeOfTheFaultEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, f := range held(time.Now().Add(time.Minute)) {
			f.Until = time.Now().Add(time.Minute)
			rt := chaos.NewTransport(new(backend), injector(t, f))
			took := lasts(func() {
				if status, text, err := get(t.Context(), t, rt); status != 200 || text != "hello, world" || err != nil {
					t.Errorf("%s: %d %q %v", f.Kind, status, text, err)
				}
			})
			if took != time.Minute {
				t.Errorf("%s took %v", f.Kind, took)
			}
			if took := lasts(func() { _, _, _ = get(t.Context(), t, rt) }); took != 0 {
				t.Errorf("%s: a call after its end took %v", f.Kind, took)
			}
		}
	})
}

func TestWhatIsHeldUpGoesOnWhenTheFaultsChange(t *testing.T) {
	for name, change := range map[string]func(*chaos.Injector){
		"switched off": (*chaos.Injector).Disable,
		"replaced":     func(i *chaos.Injector) { _ = i.Set(nil) },
	} {
		synctest.Test(t, func(t *testing.T) {
			for _, f := range held(time.Time{}) {
				i := injector(t, f)
				time.AfterFunc(time.Second, func() { change(i) })
				took := lasts(func() {
					if status, text, err := get(t.Context(), t, chaos.NewTransport(new(backend), i)); status != 200 || text != "hello, world" || err != nil {
						t.Errorf("%s, %s: %d %q %v", name, f.Kind, status, text, err)
					}
				})
				if took != time.Second {
					t.Errorf("%s, %s took %v", name, f.Kind, took)
				}
			}
		})
	}
}

func TestAFaultThatEndedWhileAnotherHeldTheCallUpDoesNotHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, down := always(middleware.FaultLatency), always(middleware.FaultReset)
		slow.Latency.Mean, down.Until = time.Minute, time.Now().Add(time.Second)
		if status, _, err := get(t.Context(), t, chaos.NewTransport(new(backend), injector(t, slow, down))); status != 200 || err != nil {
			t.Error(status, err)
		}
	})
}

func TestAnInjectorThatIsOnLetsNothingGoWhenItIsSwitchedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(middleware.FaultLatency)
		f.Latency.Mean = time.Minute
		i := injector(t, f)
		time.AfterFunc(time.Second, i.Enable)
		if took := lasts(func() { _, _, _ = get(t.Context(), t, chaos.NewTransport(new(backend), i)) }); took != time.Minute {
			t.Errorf("took %v", took)
		}
	})
}
