package idempotency

import (
	"context"
	"testing"
	"time"
)

func TestNextRenewal(t *testing.T) {
	const lease = 30 * time.Second
	broken := context.DeadlineExceeded
	for name, c := range map[string]struct {
		left time.Duration
		err  error
		wait time.Duration
		lost bool
	}{
		"after a renewal the next is due in a third":      {lease, nil, 10 * time.Second, false},
		"after a failure it is tried again soon":          {20 * time.Second, broken, lease / 9, false},
		"but not after the lease":                         {time.Second, broken, time.Second, false},
		"a failure when nothing is left is the end":       {0, broken, 0, true},
		"a failure when less than nothing is left, too":   {-time.Second, broken, 0, true},
		"a store that knows another owner is the end":     {20 * time.Second, ErrLeaseLost, 0, true},
		"a renewal that came just in time is as any":      {0, nil, 10 * time.Second, false},
		"a wrapped loss is a loss":                        {lease, &Error{Err: ErrLeaseLost}, 0, true},
		"a full store says nothing about the lease":       {lease, ErrStoreFull, lease / 9, false},
		"what fails with the end of the lease tries once": {time.Nanosecond, broken, time.Nanosecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			wait, lost := nextRenewal(lease, c.left, c.err)
			if wait != c.wait || lost != c.lost {
				t.Errorf("got %v, lost %t, want %v, lost %t", wait, lost, c.wait, c.lost)
			}
		})
	}
}

func TestPause(t *testing.T) {
	for _, c := range []struct {
		look        int
		most        time.Duration
		least, upTo time.Duration
	}{
		{1, time.Second, 3750 * time.Microsecond, 5 * time.Millisecond},
		{2, time.Second, 7500 * time.Microsecond, 10 * time.Millisecond},
		{4, time.Second, 30 * time.Millisecond, 40 * time.Millisecond},
		{9, time.Second, 750 * time.Millisecond, time.Second},
		{1 << 30, time.Second, 750 * time.Millisecond, time.Second},
		{1, time.Millisecond, 750 * time.Microsecond, time.Millisecond},
	} {
		shortest, longest := c.upTo, c.least
		for range 200 {
			d := pause(c.look, c.most)
			if d < c.least || d > c.upTo {
				t.Errorf("pause(%d, %v) = %v, want %v to %v", c.look, c.most, d, c.least, c.upTo)
			}
			shortest, longest = min(shortest, d), max(longest, d)
		}
		if longest-shortest < (c.upTo-c.least)/2 {
			t.Errorf("pause(%d, %v) is from %v to %v: those who wait ask in step", c.look, c.most, shortest, longest)
		}
	}
}
