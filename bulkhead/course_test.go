package bulkhead

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
)

// seen makes a window of answers that all took d, with so many in flight.
func seen(answers, congested, peak int64, d time.Duration) window {
	return window{count: answers + congested, answered: answers, congested: congested, peak: peak, latency: time.Duration(answers) * d}
}

func TestAIMDAddsOneOrCuts(t *testing.T) {
	c := AdaptiveConfig{Algorithm: AIMD, Decrease: 0.5, Min: 3, Max: 100}.withDefaults()
	for _, row := range []struct {
		name  string
		limit float64
		seen  window
		want  float64
	}{
		{"all well and used: one more", 20, seen(50, 0, 18, time.Second), 21},
		{"not used: no reason to grow", 20, seen(50, 0, 9, time.Second), 20},
		{"congested: cut", 20, seen(50, 10, 20, time.Second), 10},
		{"one odd timeout among many is none", 20, seen(99, 1, 20, time.Second), 21},
		{"one among ten is", 20, seen(9, 1, 20, time.Second), 10},
		{"not below the floor", 4, seen(0, 10, 4, 0), 3},
		{"not above the ceiling", 100, seen(50, 0, 100, time.Second), 100},
	} {
		if got := (course{limit: row.limit}).next(&c, row.seen, 1).limit; got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestGradientComparesLatencyWithThatOfAnIdleBackend(t *testing.T) {
	c := AdaptiveConfig{Min: 4, Max: 1000}.withDefaults()
	const ms = time.Millisecond
	for _, row := range []struct {
		name string
		from course
		seen window
		want course
	}{
		{"the first window is the measure", course{limit: 100}, seen(50, 0, 90, 10*ms), course{limit: 102, idle: 10 * ms}},
		{"a quicker one becomes it", course{limit: 100, idle: 10 * ms}, seen(50, 0, 90, 8*ms), course{limit: 102, idle: 8 * ms}},
		{"within tolerance it grows", course{limit: 100, idle: 10 * ms}, seen(50, 0, 90, 15*ms), course{limit: 102, idle: 10 * ms}},
		{"but not unused", course{limit: 100, idle: 10 * ms}, seen(50, 0, 40, 15*ms), course{limit: 100, idle: 10 * ms}},
		{"beyond it shrinks", course{limit: 100, idle: 10 * ms}, seen(50, 0, 40, 20*ms), course{limit: 97, idle: 10 * ms}},
		{"but not by more than half at a time", course{limit: 100, idle: 10 * ms}, seen(50, 0, 90, time.Hour), course{limit: 92, idle: 10 * ms}},
		{"congestion is as bad as that", course{limit: 100, idle: 10 * ms}, seen(50, 5, 90, 10*ms), course{limit: 92, idle: 10 * ms}},
		{"with nothing but congestion, too", course{limit: 100, idle: 10 * ms}, seen(0, 50, 90, 0), course{limit: 92, idle: 10 * ms}},
		{"not below the floor", course{limit: 4, idle: ms}, seen(0, 50, 4, 0), course{limit: 4, idle: ms}},
	} {
		if got := row.from.next(&c, row.seen, 1); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

func TestGradientMeasuresAnIdleBackendAfreshAtHalfTheLimit(t *testing.T) {
	c := AdaptiveConfig{Remeasure: 10 * time.Second}.withDefaults()
	begun := backstay.Instant(1)
	s := course{limit: 100, idle: time.Millisecond, measured: begun}
	s = s.next(&c, seen(50, 0, 90, time.Millisecond), begun.Add(9*time.Second))
	if s.measuring() || s.limit != 102 {
		t.Fatalf("too early: %+v", s)
	}
	s = s.next(&c, seen(50, 0, 10, time.Millisecond), begun.Add(10*time.Second))
	if !s.measuring() || s.limit != 51 {
		t.Fatalf("not measuring at half the limit: %+v", s)
	}
	s = s.next(&c, seen(50, 0, 51, 3*time.Millisecond), begun.Add(11*time.Second))
	want := course{limit: 102, idle: 3 * time.Millisecond, measured: begun.Add(11 * time.Second)}
	if s != want {
		t.Fatalf("after measuring %+v, want %+v", s, want)
	}
}

// backend is a server of so many workers, asked by enough clients.
type backend struct {
	workers float64
	service time.Duration
}

// latency is that of a closed loop with so many calls in flight.
func (b backend) latency(inFlight float64) time.Duration {
	return time.Duration(float64(b.service) * max(1, inFlight/b.workers))
}

// simulate runs so many windows of 100 ms against the backend.
func (b backend) simulate(c *AdaptiveConfig, s course, now backstay.Instant, windows int) (course, backstay.Instant) {
	for range windows {
		now = now.Add(100 * time.Millisecond)
		w := seen(100, 0, int64(s.limit), b.latency(s.limit))
		if refused := int64(s.limit - 2*b.workers); refused > 0 { // it has a short queue of its own
			w.congested, w.count = 50, 150
		}
		s = s.next(c, w, now)
	}
	return s, now
}

func TestTheLimitFindsWhatTheBackendCanDo(t *testing.T) {
	for _, algorithm := range []string{Gradient, AIMD} {
		for _, workers := range []float64{10, 50, 200} {
			c := AdaptiveConfig{Algorithm: algorithm}.withDefaults()
			server := backend{workers, 20 * time.Millisecond}
			s := course{limit: 20, measured: 1}
			s, now := server.simulate(&c, s, 1, 3000)
			t.Logf("%s: %v workers, limit %.1f", algorithm, workers, s.limit)
			if s.limit < workers || s.limit > 2.5*workers {
				t.Errorf("%s: %v workers, limit %v", algorithm, workers, s.limit)
			}
			server.workers /= 4 // it loses three of four replicas
			s, _ = server.simulate(&c, s, now, 600)
			if s.limit > 3*max(server.workers, 4) {
				t.Errorf("%s: %v workers are left, limit %v", algorithm, server.workers, s.limit)
			}
		}
	}
}

func TestABackendThatHasBecomeSlowerForGoodIsNotTakenForAnOverloadedOne(t *testing.T) {
	c := AdaptiveConfig{}.withDefaults()
	server := backend{50, 20 * time.Millisecond}
	s, now := server.simulate(&c, course{limit: 20, measured: 1}, 1, 1000)
	server.service *= 4
	s, _ = server.simulate(&c, s, now, 1000)
	if s.limit < server.workers {
		t.Errorf("limit %v for %v workers", s.limit, server.workers)
	}
}
