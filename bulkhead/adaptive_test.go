package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

// load makes n calls, so many at a time, that each end in err after d.
func load(t *testing.T, b *bulkhead.Bulkhead, n, atOnce int, d time.Duration, err error) {
	t.Helper()
	done := make(chan struct{})
	for range atOnce {
		go func() {
			for range n / atOnce {
				_, _ = bulkhead.Do(t.Context(), b, func(context.Context) (int, error) {
					time.Sleep(d)
					return 0, err
				})
			}
			done <- struct{}{}
		}()
	}
	for range atOnce {
		<-done
	}
}

func TestAnAdaptiveLimitFollowsWhatCallsMeet(t *testing.T) {
	type config = bulkhead.AdaptiveConfig
	const ms = time.Millisecond
	overload := backstay.RetryAfter(errors.New("busy"), time.Second)
	for name, c := range map[string]struct {
		config config
		err    error
		want   int64 // from 16: more, less, or the same
	}{
		"it grows on success":                     {config{Algorithm: bulkhead.AIMD}, nil, +1},
		"the gradient, too":                       {config{}, nil, +1},
		"a caller's own mistake is an answer":     {config{}, backstay.PermanentError(errors.New("404")), +1},
		"it shrinks on overload":                  {config{Algorithm: bulkhead.AIMD}, overload, -1},
		"the gradient, too, on overload":          {config{}, overload, -1},
		"it shrinks on timeouts":                  {config{Algorithm: bulkhead.AIMD}, context.DeadlineExceeded, -1},
		"of any kind":                             {config{Algorithm: bulkhead.AIMD}, fmt.Errorf("dial: %w", impatient{}), -1},
		"other failures tell nothing":             {config{Algorithm: bulkhead.AIMD}, errors.New("reset"), 0},
		"nor does a caller who gave up":           {config{Algorithm: bulkhead.AIMD}, context.Canceled, 0},
		"nor does a failure that is here to stay": {config{}, backstay.Mark(errors.New("501"), backstay.Outcome{Class: backstay.Fault}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen events
				b := must(bulkhead.New(bulkhead.Config{Limit: 16, Adaptive: &c.config},
					bulkhead.WithScope(&backstay.Scope{Observer: &seen})))
				load(t, b, 600, 12, 10*ms, c.err)
				if got := b.Limit(); got > 16 != (c.want > 0) || got < 16 != (c.want < 0) {
					t.Errorf("the limit went from 16 to %d", got)
				}
				changes := seen.limits()
				if (len(changes) > 0) != (c.want != 0) || (len(changes) > 0 && changes[len(changes)-1] != b.Limit()) {
					t.Errorf("told of the limits %v, last is %d", changes, b.Limit())
				}
				if b.InFlight() != 0 {
					t.Errorf("%d in flight", b.InFlight())
				}
			})
		})
	}
}

// limits returns the limits that were told of.
func (s *events) limits() (all []int64) {
	for _, e := range s.Events(backstay.LimitChanged) {
		all = append(all, e.Limit)
	}
	return all
}

// impatient is how package net tells of a timeout.
type impatient struct{}

func (impatient) Error() string { return "i/o timeout" }
func (impatient) Timeout() bool { return true }

func TestACallersOwnDeadlineTellsNothingAboutTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 16, Adaptive: &bulkhead.AdaptiveConfig{Algorithm: bulkhead.AIMD}}))
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, _ = bulkhead.Do(ctx, b, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			})
			cancel()
		}
		if got := b.Limit(); got != 16 {
			t.Errorf("the limit went from 16 to %d", got)
		}
	})
}

func TestALimitThatGrowsAdmitsWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 9, Adaptive: &bulkhead.AdaptiveConfig{Algorithm: bulkhead.AIMD, Min: 1}}))
		blocked := 0
		for range 40 {
			go func() {
				_, _ = bulkhead.Do(t.Context(), b, func(context.Context) (int, error) {
					time.Sleep(20 * time.Millisecond)
					return 0, nil
				})
			}()
			time.Sleep(10 * time.Millisecond)
			blocked = max(blocked, int(b.Queued()))
		}
		if b.Limit() < 2 || blocked == 0 {
			t.Errorf("limit %d, at most %d queued", b.Limit(), blocked)
		}
		time.Sleep(time.Minute)
		if b.Queued() != 0 || b.InFlight() != 0 {
			t.Errorf("%d queued, %d in flight", b.Queued(), b.InFlight())
		}
	})
}

func TestALimitThatGrowsAdmitsWaitersThoughNoPermitComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 16, MaxQueue: 1, HoldBody: true, Adaptive: &bulkhead.AdaptiveConfig{Algorithm: bulkhead.AIMD}}))
		answers := make(chan *answer, 16)
		for i := range 16 {
			go func() {
				answers <- must(bulkhead.Run(t.Context(), b, exchange{}, struct{}{}, func(context.Context, struct{}) (*answer, error) {
					time.Sleep(time.Duration(i+1) * 20 * time.Millisecond)
					return new(answer), nil
				}))
			}()
		}
		synctest.Wait()
		waiter := queued(t.Context(), t, b, 1)
		got := <-waiter
		if got.err != nil || b.InFlight() <= 16 {
			t.Errorf("%v, %d in flight", got.err, b.InFlight())
		}
		got.permit.Release(backstay.Outcome{})
		for range 16 {
			(<-answers).done()
		}
		wantIdle(t, b)
	})
}

func TestPermitsTellAnAdaptiveLimitHowCallsEnded(t *testing.T) {
	for _, c := range []struct {
		class backstay.Class
		less  bool
	}{{backstay.Overload, true}, {backstay.Transient, false}, {backstay.Canceled, false}} {
		synctest.Test(t, func(t *testing.T) {
			b := must(bulkhead.New(bulkhead.Config{Limit: 16, Adaptive: &bulkhead.AdaptiveConfig{Algorithm: bulkhead.AIMD}}))
			for range 50 {
				permit := acquire(t, b)
				time.Sleep(10 * time.Millisecond)
				permit.Release(backstay.Outcome{Class: c.class})
			}
			if got := b.Limit(); (got < 16) != c.less {
				t.Errorf("%v: the limit went from 16 to %d", c.class, got)
			}
		})
	}
}

func TestMeasuringLeavesOutCallsThatBeganBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen events
		b := must(bulkhead.New(bulkhead.Config{Limit: 16, Adaptive: &bulkhead.AdaptiveConfig{Remeasure: time.Second}},
			bulkhead.WithScope(&backstay.Scope{Observer: &seen})))
		load(t, b, 12*200, 12, 10*time.Millisecond, nil)
		limits := seen.limits()
		halved := slices.IndexFunc(limits[1:], func(n int64) bool { return n <= limits[0]*3/4 })
		if halved < 0 || limits[halved+2] < limits[halved] {
			t.Errorf("the limit was never halved for a measurement, or did not come back: %v", limits)
		}
		if b.InFlight() != 0 {
			t.Errorf("%d in flight", b.InFlight())
		}
	})
}
