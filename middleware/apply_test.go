package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// stateful is a target with every policy that has state.
func stateful() middleware.Target {
	return only(middleware.Config{
		Retry: &retry.Config{Base: retry.NoWait}, Hedge: &hedge.Config{MinSamples: 1},
		Breaker: &breaker.Config{Consecutive: 3}, Bulkhead: &bulkhead.Config{Limit: 5}, Timeout: &timeout.Config{},
	})
}

// spoil gives the pipelines of r state that is worth keeping: at "down" the
// breaker is open and the budget used up, at "busy" a permit is given out and
// latencies are known.
func spoil(t *testing.T, r *middleware.Registry) {
	t.Helper()
	down, busy := r.Get("down", backstay.Now()), r.Get("busy", backstay.Now())
	for range 100 {
		_, _ = middleware.Race(t.Context(), busy, nil, slow(50*ms))
	}
	for range 3 {
		_, _ = middleware.Do(t.Context(), down, fails)
	}
	if _, err := busy.Bulkhead().Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

// kept says which state of spoil is there.
func kept(r *middleware.Registry) string {
	down, busy := r.Get("down", backstay.Now()).Status(), r.Get("busy", backstay.Now()).Status()
	var all []string
	say := func(name string, is bool) {
		if is {
			all = append(all, name)
		}
	}
	say("breaker", down.Breaker != nil && down.Breaker.State == "open")
	say("budget", down.Budget != nil && down.Budget.Available < 3)
	say("bulkhead", busy.Bulkhead != nil && busy.Bulkhead.InFlight == 1)
	say("hedge", busy.Hedge != nil && busy.Hedge.Delay > 0)
	return strings.Join(all, " ")
}

// Acceptance case C48.
func TestC48_StateOfWhatDoesNotChangeIsKept(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*middleware.Target)
		keeps  string
	}{
		{"nothing", func(*middleware.Target) {}, "breaker budget bulkhead hedge"},
		{"another deadline", func(t *middleware.Target) { t.Deadline = &deadline.Config{Total: time.Minute} }, "breaker budget bulkhead hedge"},
		{"no timeout any longer", func(t *middleware.Target) { t.Timeout = nil }, "breaker budget bulkhead hedge"},
		{"another timeout, from which the breaker takes what is slow", func(t *middleware.Target) { t.Timeout = &timeout.Config{After: time.Second} }, "breaker budget bulkhead hedge"},
		{"timeouts that abandon", func(t *middleware.Target) { t.Timeout = &timeout.Config{Abandon: true} }, "breaker budget bulkhead hedge"},
		{"other retries", func(t *middleware.Target) { t.Retry = &retry.Config{MaxAttempts: 5} }, "breaker bulkhead hedge"},
		{"other hedging", func(t *middleware.Target) { t.Hedge = &hedge.Config{MaxCopies: 2} }, "breaker budget bulkhead"},
		{"no hedging any longer", func(t *middleware.Target) { t.Hedge = nil }, "breaker budget bulkhead"},
		{"a breaker with other numbers", func(t *middleware.Target) { t.Breaker = &breaker.Config{OpenFor: time.Minute} }, "breaker budget bulkhead hedge"},
		{"a breaker with another window", func(t *middleware.Target) { t.Breaker = &breaker.Config{Window: 40} }, "budget bulkhead hedge"},
		{"no breaker any longer", func(t *middleware.Target) { t.Breaker = nil }, "budget bulkhead hedge"},
		{"another bulkhead", func(t *middleware.Target) { t.Bulkhead = &bulkhead.Config{Limit: 6} }, "breaker budget hedge"},
		{"none at all", func(t *middleware.Target) { t.Config = middleware.Config{} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := registry(t, stateful())
				spoil(t, r)
				if got, want := kept(r), "breaker budget bulkhead hedge"; got != want {
					t.Fatalf("there is %q to begin with, want %q", got, want)
				}
				next := stateful()
				c.change(&next)
				for range 2 { // the second time nothing changes
					if err := r.Apply(next); err != nil {
						t.Fatal(err)
					}
				}
				if got := kept(r); got != c.keeps {
					t.Errorf("kept %q, want %q", got, c.keeps)
				}
				if err := r.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestWhatIsAppliedCountsForTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait}}))
		p := r.Get("a", backstay.Now())
		attempts := func() (n int) {
			_, _ = middleware.Do(t.Context(), p, func(context.Context) (int, error) { n++; return 0, errDown })
			return n
		}
		if n := attempts(); n != 3 {
			t.Fatalf("%d attempts", n)
		}
		if err := r.Apply(only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait, MaxAttempts: 2}})); err != nil {
			t.Fatal(err)
		}
		if n := attempts(); n != 2 {
			t.Errorf("%d attempts by a pipeline that was there, want 2", n)
		}
		if p != r.Get("a", backstay.Now()) {
			t.Error("the pipeline is another one")
		}
		p = r.Get("b", backstay.Now())
		if n := attempts(); n != 2 {
			t.Errorf("%d attempts by a new pipeline, want 2", n)
		}
	})
}

func TestACallThatIsUnderWayGoesByWhatItBeganWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait}, Bulkhead: &bulkhead.Config{Limit: 1}}))
		p := r.Get("a", backstay.Now())
		var attempts atomic.Int32
		done := make(chan error)
		go func() {
			_, err := middleware.Do(t.Context(), p, func(ctx context.Context) (int, error) {
				attempts.Add(1)
				return 0, errors.Join(errDown, sleep(ctx, time.Second))
			})
			done <- err
		}()
		synctest.Wait()
		if err := r.Apply(only(middleware.Config{Bulkhead: &bulkhead.Config{Limit: 2}})); err != nil {
			t.Fatal(err)
		}
		if s := p.Status(); s.Bulkhead.Limit != 2 || s.Bulkhead.InFlight != 0 || s.Budget != nil {
			t.Errorf("in force is %+v", s)
		}
		if err := <-done; attempts.Load() != 3 || !errors.Is(err, errDown) {
			t.Errorf("%d attempts: %v", attempts.Load(), err)
		}
		if s := p.Status(); s.Bulkhead.InFlight != 0 {
			t.Errorf("its permit came back to another bulkhead: %+v", s.Bulkhead)
		}
	})
}

func TestWhatCannotBeBuiltChangesNothing(t *testing.T) {
	r := registry(t, only(middleware.Config{Retry: &retry.Config{}}))
	for name, c := range map[string]struct {
		target middleware.Target
		want   string
	}{
		"faults":       {only(middleware.Config{Retry: &retry.Config{MaxAttempts: -1}, Timeout: &timeout.Config{After: -7}}), "middleware.test.timeout.after"},
		"another name": {middleware.Standard("other"), `middleware.name: "other" is not allowed: must stay "test"`},
		"no such name": {middleware.Unbuildable("tset", errors.New("there is no target tset")), "middleware: there is no target tset"},
	} {
		err := r.Apply(c.target)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p := r.Get("a", backstay.Now()); p.Breaker() != nil || p.Status().Budget == nil {
		t.Error("something was applied")
	}
	_ = r.Close(t.Context())
	if err := r.Apply(middleware.Standard("test")); !errors.Is(err, middleware.ErrClosed) {
		t.Errorf("to a closed registry: %v", err)
	}
}

func TestWhatIsFixedIsNamed(t *testing.T) {
	r := registry(t, only(middleware.Config{}))
	next := only(middleware.Config{Retry: &retry.Config{}, Fallback: &fallback.Config{DrillShare: 0.5}})
	next.Keys = middleware.Keys{Max: 1, IdleAfter: 1}
	err := r.Apply(next)
	partly, ok := errors.AsType[*middleware.PartlyError](err)
	if !ok || !errors.Is(err, middleware.ErrPartly) || strings.Join(partly.Settings, " ") != "keys.max keys.idle_after fallback" {
		t.Errorf("got %v", err)
	}
	if r.Get("a", backstay.Now()).Status().Budget == nil {
		t.Error("the rest is not in force")
	}
}

func TestFailClosedCountsAtOnce(t *testing.T) {
	p := made(t, only(middleware.Config{Fallback: &fallback.Config{}}))
	l, err := middleware.NewLadder(p, fallback.Rungs(fallback.Value(7)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := middleware.DoOr(t.Context(), p, l, fails); got != 7 || err != nil {
		t.Fatalf("%d, %v", got, err)
	}
	if err := p.Apply(only(middleware.Config{Fallback: &fallback.Config{FailClosed: true}})); err != nil {
		t.Fatal(err)
	}
	if got, err := middleware.DoOr(t.Context(), p, l, fails); !errors.Is(err, errDown) {
		t.Errorf("%d, %v", got, err)
	}
}

func TestASinglePipelineTakesTargetsToo(t *testing.T) {
	p := made(t, only(middleware.Config{}))
	if err := p.Apply(only(middleware.Config{Bulkhead: &bulkhead.Config{Limit: 7}})); err != nil {
		t.Fatal(err)
	}
	if p.Bulkhead().Limit() != 7 {
		t.Error("it is not in force")
	}
	if err := registry(t, only(middleware.Config{})).Get("a", backstay.Now()).Apply(only(middleware.Config{})); err == nil {
		t.Error("a pipeline of a registry has a target of its own")
	}
	var none *middleware.Pipeline
	if none.Apply(only(middleware.Config{})) == nil {
		t.Error("a nil pipeline has a target")
	}
}

// What a call leaves behind belongs to the registry under any configuration.
func TestCloseWaitsForWhatEarlierConfigurationsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, outliving())
		began := time.Now()
		leaveBehind(t.Context(), r.Get("a", backstay.Now()), time.Minute)
		for i := range 3 {
			if err := r.Apply(only(middleware.Config{Bulkhead: &bulkhead.Config{Limit: int64(i + 1)}})); err != nil {
				t.Fatal(err)
			}
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it did not wait: %v", err)
		}
		if err := r.Close(t.Context()); err != nil || time.Since(began) < time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestAPipelineThatWasClosedStaysClosed(t *testing.T) {
	r := registry(t, only(middleware.Config{}))
	p := r.Get("a", backstay.Now())
	_ = p.Close(t.Context())
	if err := r.Apply(middleware.Standard("test")); err != nil {
		t.Fatal(err)
	}
	_, err := through(t.Context(), r, "a", succeeds)
	refused(t, err, middleware.ErrClosed)
	if _, err := through(t.Context(), r, "b", succeeds); err != nil {
		t.Error(err)
	}
}

func TestCopiesSpendFromTheBudgetInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := only(middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}, Retry: &retry.Config{}})
		r := registry(t, target)
		p := r.Get("a", backstay.Now())
		target.Retry = &retry.Config{MaxAttempts: 2}
		if err := r.Apply(target); err != nil {
			t.Fatal(err)
		}
		before := p.Status().Budget.Available
		_, _ = middleware.Race(t.Context(), p, nil, slow(50*ms))
		if after := p.Status().Budget.Available; after >= before {
			t.Errorf("a copy cost nothing: %v, then %v", before, after)
		}
	})
}

// Acceptance case C48.
func TestC48_TargetsAreAppliedWhileCallsGoOn(t *testing.T) {
	target := stateful()
	target.Bulkhead = &bulkhead.Config{Limit: bulkhead.Unlimited}
	target.Retry.MaxAttempts = 4
	target.Retry.Budget.Off = true
	target.Breaker = &breaker.Config{Consecutive: 1000, FailureRatio: breaker.NoFailureRatio}
	r := registry(t, target)
	var stop atomic.Bool
	var calls atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				key := fmt.Sprint((g + i) % 7)
				if i%10 == 0 {
					key = fmt.Sprintf("new-%d-%d", g, i) // made while targets change
				}
				if _, err := through(t.Context(), r, key, answers(fails, succeeds)); err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
				calls.Add(1)
			}
		})
	}
	for i := range 300 {
		next := target
		switch i % 3 {
		case 0:
			next.Bulkhead = &bulkhead.Config{Limit: int64(1000 + i)}
		case 1:
			next.Hedge = nil
		case 2:
			next.Breaker = &breaker.Config{Consecutive: 1000 + i, FailureRatio: breaker.NoFailureRatio}
		}
		if err := r.Apply(next); err != nil {
			t.Fatal(err)
		}
	}
	last := target
	last.Bulkhead = &bulkhead.Config{Limit: 77}
	if err := r.Apply(last); err != nil {
		t.Fatal(err)
	}
	stop.Store(true)
	wg.Wait()
	for key := range r.All {
		if s := r.Get(key, backstay.Now()).Status(); s.Bulkhead.Limit != 77 || s.Bulkhead.InFlight != 0 {
			t.Errorf("%s: %+v", key, s.Bulkhead)
		}
	}
	t.Logf("%d calls over %d keys", calls.Load(), r.Len())
}

func TestAProtocolsSettingsAreThoseOfTheTargetInForce(t *testing.T) {
	wrong := errors.New("not for me")
	r := registry(t, only(middleware.Config{}), middleware.WithSettings(func(t middleware.Target) (any, error) {
		if t.HTTP.IdleBody == time.Second {
			return nil, wrong
		}
		return t.HTTP.IdleBody, nil
	}))
	for _, c := range []struct {
		idle, want time.Duration
		err        error
	}{{0, 0, nil}, {time.Minute, time.Minute, nil}, {time.Second, time.Minute, wrong}} {
		next := only(middleware.Config{})
		next.HTTP.IdleBody = c.idle
		if err := r.Apply(next); !errors.Is(err, c.err) {
			t.Errorf("got %v", err)
		}
		if got := r.Settings(); got != c.want {
			t.Errorf("the settings are %v, want %v", got, c.want)
		}
	}
}

func TestAnUnbuildableTargetIsRefusedWithItsReason(t *testing.T) {
	why := errors.New("policies.yaml has no target paymets; did you mean payments?")
	target := middleware.Unbuildable("paymets", why)
	_, one := middleware.New(target)
	_, many := middleware.NewRegistry(target)
	for _, err := range []error{one, many} {
		if !errors.Is(err, why) || err.Error() != "middleware: "+why.Error() {
			t.Errorf("got %v", err)
		}
	}
}
