package bulkhead

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
)

func TestAWindowLastsForItsTimeAndTenCalls(t *testing.T) {
	c := AdaptiveConfig{Algorithm: AIMD}.withDefaults()
	a := newAdaptive(&plan{limit: 20, adaptive: &c})
	now := backstay.Instant(1)
	end := func(after time.Duration) bool {
		now = now.Add(after)
		limit, changed := a.add(&c, sample{began: 1, latency: time.Second, inFlight: 20}, now)
		if changed && limit != a.limit.Load() {
			t.Errorf("told %d, in force %d", limit, a.limit.Load())
		}
		return changed
	}
	for window := range 3 {
		for i := range 9 {
			if end(time.Second) {
				t.Fatalf("window %d ended with call %d", window, i+1)
			}
		}
		if !end(time.Second) {
			t.Fatalf("window %d did not end with the tenth call", window)
		}
		for i := range 50 {
			if end(time.Millisecond) {
				t.Fatalf("window %d ended %d ms after the one before", window, i+1)
			}
		}
		if !end(time.Second) {
			t.Fatalf("window %d did not end in time", window)
		}
	}
	if got := a.limit.Load(); got != 26 {
		t.Errorf("after six windows from 20 to %d", got)
	}
}

func TestAMeasurementLeavesOutCallsThatBeganBeforeIt(t *testing.T) {
	c := AdaptiveConfig{}.withDefaults()
	a := newAdaptive(&plan{limit: 20, adaptive: &c})
	a.course = course{limit: 10, idle: time.Second, measured: 1, resume: 20}
	a.window.began = 1000
	late := backstay.Instant(1000).Add(time.Minute)
	for range 20 {
		if _, changed := a.add(&c, sample{began: 999, latency: time.Hour, inFlight: 20}, late); changed {
			t.Fatal("calls that had company ended the measurement")
		}
	}
	for range leastSamples {
		a.add(&c, sample{began: 1000, latency: time.Minute, inFlight: 10}, late)
	}
	if want := (course{limit: 20, idle: time.Minute, measured: late}); a.course != want {
		t.Errorf("after the measurement %+v, want %+v", a.course, want)
	}
}

func TestAnEmptyQueueKeepsNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := New(Config{Limit: 1, MaxQueue: 2, MaxWait: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		q := &b.more.queue
		timers := func() (int64, bool) {
			q.mu.Lock()
			defer q.mu.Unlock()
			return q.line.length, q.timer != nil
		}
		for _, wait := range []time.Duration{time.Millisecond, time.Second + 1} { // left, waited out
			permit, _ := b.TryAcquire(t.Context(), 1)
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			go func() { _, _ = b.Acquire(ctx, 1) }()
			synctest.Wait()
			if n, on := timers(); n != 1 || !on {
				t.Errorf("%d waiters, a timer %v", n, on)
			}
			time.Sleep(wait)
			synctest.Wait()
			if n, on := timers(); n != 0 || on {
				t.Errorf("%d waiters, a timer %v", n, on)
			}
			permit.Release(backstay.Outcome{})
			cancel()
		}
	})
}
