package breaker_test

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

// Acceptance case C28.
func TestC28_ProbePlacesComeBackWhenTheCallPanics(t *testing.T) {
	for name, leave := range map[string]func(){
		"a panic":                      func() { panic("boom") },
		"a panic with ErrAbortHandler": func() { panic(http.ErrAbortHandler) },
		"an exit of the goroutine":     runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, l := newBreaker(t, twoFailures())
				trip(t, b)
				time.Sleep(time.Second)
				var probe sync.WaitGroup
				probe.Go(func() {
					defer func() { _ = recover() }()
					_, _ = breaker.Do(context.Background(), b, func(context.Context) (int, error) {
						leave()
						return 0, nil
					})
				})
				probe.Wait()
				wantState(t, b, breaker.Open)
				time.Sleep(2 * time.Second)
				if err := call(t.Context(), b, nil); err != nil {
					t.Error(err)
				}
				wantState(t, b, breaker.Closed)
				wantChanges(t, l, "closed>open", "open>half-open", "half-open>open", "open>half-open", "half-open>closed")
			})
		})
	}
}

// Acceptance case C29.
func TestC29_AProbeThatNeverReturnsLosesItsPlaceAfterTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, ProbeLease: 30 * time.Second})
		trip(t, b)
		time.Sleep(time.Second)
		lost, err := b.Allow(t.Context())
		wantAdmitted(t, err)

		time.Sleep(30*time.Second - 1)
		wantRejected(t, call(t.Context(), b, nil))
		time.Sleep(time.Nanosecond)
		next, err := b.Allow(t.Context())
		wantAdmitted(t, err)
		wantRejected(t, call(t.Context(), b, nil)) // one place, taken again

		lost.Done(t.Context(), failure, 0) // whoever lost its place has no say
		wantState(t, b, breaker.HalfOpen)
		next.Done(t.Context(), success, 0)
		wantState(t, b, breaker.Closed)
		wantChanges(t, l, "closed>open", "open>half-open", "half-open>closed")
	})
}

func TestAProbePastItsLeaseCountsWhereNobodyTookItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, twoFailures())
		trip(t, b)
		time.Sleep(time.Second)
		pass := must(b.Allow(t.Context()))
		time.Sleep(time.Hour)
		pass.Done(t.Context(), success, 0)
		wantState(t, b, breaker.Closed)
	})
}

func TestTheLeaseThatEndsFirstFreesAPlaceFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, Probes: 2, ProbeLease: 10 * time.Second})
		trip(t, b)
		time.Sleep(time.Second)
		for range 2 {
			_ = must(b.Allow(t.Context()))
			time.Sleep(time.Second)
		}
		wantRejected(t, call(t.Context(), b, nil))
		time.Sleep(8*time.Second - 1)
		wantRejected(t, call(t.Context(), b, nil))
		for range 2 { // the first lease ends, a second later the other
			time.Sleep(time.Nanosecond)
			_ = must(b.Allow(t.Context()))
			time.Sleep(time.Second - 1)
			wantRejected(t, call(t.Context(), b, nil))
		}
	})
}

// Acceptance case C30.
func TestC30_LateResultsChangeNothing(t *testing.T) {
	for name, end := range map[string]backstay.Outcome{"failures": failure, "successes": success} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, l := newBreaker(t, twoFailures())
				var late []breaker.Pass
				begin := func() { late = append(late, must(b.Allow(t.Context()))) }
				report := func() {
					for _, pass := range late {
						pass.Done(t.Context(), end, 0)
					}
				}
				for range 10 {
					begin() // while closed
				}
				trip(t, b)
				report()
				wantState(t, b, breaker.Open)
				time.Sleep(time.Second)
				probe := must(b.Allow(t.Context()))
				report()
				wantState(t, b, breaker.HalfOpen)
				wantRejected(t, call(t.Context(), b, nil))

				probe.Done(t.Context(), failure, 0)
				wantState(t, b, breaker.Open)
				late = append(late, probe) // reported twice, by a careless caller
				time.Sleep(2 * time.Second)
				probe = must(b.Allow(t.Context()))
				report()
				wantState(t, b, breaker.HalfOpen)
				probe.Done(t.Context(), success, 0)
				late = append(late, probe)
				report()
				wantState(t, b, breaker.Closed)
				if got := b.Counts(); got != (breaker.Counts{}) {
					t.Errorf("counts %+v after closing, want none", got)
				}
				wantChanges(t, l, "closed>open", "open>half-open", "half-open>open", "open>half-open", "half-open>closed")
			})
		})
	}
}

// Acceptance case C34.
func TestC34_HalfOpenAdmitsExactlyItsProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, Probes: 3})
		trip(t, b)
		var reached, rejected atomic.Int64
		release := make(chan struct{})
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				time.Sleep(time.Second) // all wake at the instant of half-open
				_, err := breaker.Do(t.Context(), b, func(context.Context) (int, error) {
					reached.Add(1)
					<-release
					return 0, nil
				})
				if err != nil {
					rejected.Add(1)
				}
			})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if reached.Load() != 3 || rejected.Load() != 97 {
			t.Errorf("%d calls reached the backend and %d were rejected, want 3 and 97", reached.Load(), rejected.Load())
		}
		close(release)
		all.Wait()
		wantState(t, b, breaker.Closed)
		wantChanges(t, l, "closed>open", "open>half-open", "half-open>closed")
	})
}

func TestAnOpenBreakerIsOpenToTheNanosecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, twoFailures())
		trip(t, b)
		time.Sleep(time.Second - 1)
		wantState(t, b, breaker.Open)
		wantRejected(t, call(t.Context(), b, nil))
		time.Sleep(time.Nanosecond)
		wantState(t, b, breaker.HalfOpen)
		if err := call(t.Context(), b, nil); err != nil {
			t.Error(err)
		}
		wantState(t, b, breaker.Closed)
	})
}

func TestACancelledProbeIsNeutralAndGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, Probes: 2})
		trip(t, b)
		time.Sleep(time.Second)
		for range 50 {
			first, second := must(b.Allow(t.Context())), must(b.Allow(t.Context()))
			_, err := b.Allow(t.Context())
			wantRejected(t, err)
			first.Done(t.Context(), cancelled, 0)
			second.Done(t.Context(), cancelled, 0)
			first.Done(t.Context(), cancelled, 0) // twice: gives back one place, not two
		}
		wantState(t, b, breaker.HalfOpen)
		for range 2 {
			wantAdmitted(t, call(t.Context(), b, nil))
		}
		wantState(t, b, breaker.Closed)
		wantChanges(t, l, "closed>open", "open>half-open", "half-open>closed")
	})
}

func TestOneFailedProbeReopensWhateverTheOthersSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, Probes: 3})
		trip(t, b)
		time.Sleep(time.Second)
		first, second, third := must(b.Allow(t.Context())), must(b.Allow(t.Context())), must(b.Allow(t.Context()))
		first.Done(t.Context(), success, 0)
		second.Done(t.Context(), failure, 0)
		third.Done(t.Context(), success, 0)
		wantState(t, b, breaker.Open)
		wantChanges(t, l, "closed>open", "open>half-open", "half-open>open")
	})
}

func TestASlowProbeReopensUnderTheSlowRule(t *testing.T) {
	for _, c := range []struct {
		name  string
		ratio float64
		want  breaker.State
	}{{"with the rule", 0.5, breaker.Open}, {"without it", 0, breaker.Closed}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, SlowAfter: time.Second, SlowRatio: c.ratio})
				trip(t, b)
				time.Sleep(time.Second)
				_, err := breaker.Do(t.Context(), b, func(context.Context) (int, error) {
					time.Sleep(time.Second)
					return 0, nil
				})
				wantAdmitted(t, err)
				wantState(t, b, c.want)
			})
		})
	}
}

func TestEachFailedReopeningLastsTwiceAsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, breaker.Config{Consecutive: 2, OpenFor: time.Second, MaxOpenFor: 5 * time.Second})
		trip(t, b)
		const s = time.Second
		for _, wait := range []time.Duration{s, 2 * s, 4 * s, 5 * s, 5 * s} {
			time.Sleep(wait - 1)
			wantRejected(t, call(t.Context(), b, nil))
			time.Sleep(time.Nanosecond)
			wantAdmitted(t, call(t.Context(), b, errBackend))
		}
		time.Sleep(5 * s)
		wantAdmitted(t, call(t.Context(), b, nil))
		trip(t, b)
		var waits []time.Duration
		for _, e := range l.of(backstay.BreakerChanged) {
			if e.To == "open" {
				waits = append(waits, e.Wait)
			}
		}
		if want := []time.Duration{s, 2 * s, 4 * s, 5 * s, 5 * s, 5 * s, s}; !slices.Equal(waits, want) {
			t.Errorf("openings of %v, want %v", waits, want)
		}
	})
}
