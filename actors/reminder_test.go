package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

// alarm is a cluster whose things note when they ring.
type alarm struct {
	*scripted
	diary
	began time.Time
	ring  actors.Method[string, none, thing]
	takes time.Duration // by a ring
}

func newAlarm(c *cluster) *alarm {
	a := &alarm{began: time.Now(), scripted: &scripted{run: actors.Declare[int, none](Thing, "run")}}
	a.ring = actors.Declare[string, none](Thing, "ring")
	a.ctx = c.things(a.handlers()...)
	return a
}

func (a *alarm) handlers() []actors.Handler[thing] {
	return []actors.Handler[thing]{
		actors.Handle(a.run, func(ctx context.Context, self self, i int) (none, error) { return none{}, a.todo[i](ctx, self) }),
		actors.Handle(a.ring, func(_ context.Context, self self, what string) (none, error) {
			line := fmt.Sprintf("%s at %v", what, time.Since(a.began).Truncate(100*time.Millisecond))
			if n := self.Missed(); n > 0 {
				line += fmt.Sprintf(", %d missed", n)
			}
			a.write(line)
			time.Sleep(a.takes)
			return none{}, nil
		}),
	}
}

func (a *alarm) rang(t *testing.T, want ...string) {
	t.Helper()
	if got := a.all(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAReminderRingsOnceAndNotEarly(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		c.ok(a.on("x", func(_ context.Context, self self) error {
			return errors.Join(
				a.ring.Remind(self, "after", actors.After(time.Minute+time.Microsecond), "after"),
				a.ring.Remind(self, "at", actors.At(a.began.Add(30*time.Second+time.Nanosecond)), "at"),
				a.ring.Remind(self, "now", actors.At(a.began.Add(-time.Hour)), "now"),
			)
		}))
		pass(30 * time.Second)
		a.rang(t, "now at 0s")
		pass(24 * time.Hour)
		a.rang(t, "now at 0s", "at at 30s", "after at 1m0s")
	})
}

func TestAReminderOfAStepThatFailedIsNotSet(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		c.is(a.on("x", func(_ context.Context, self self) error {
			return errors.Join(a.ring.Remind(self, "r", actors.After(time.Minute), "r"), errEmpty)
		}), errEmpty)
		pass(time.Hour)
		a.rang(t)
	})
}

func TestAReminderIsReplacedAndForgotten(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		c.ok(a.on("x", func(_ context.Context, self self) error {
			return errors.Join(
				a.ring.Remind(self, "moved", actors.After(time.Minute), "first"),
				a.ring.Remind(self, "moved", actors.After(3*time.Minute), "second"),
				a.ring.Remind(self, "gone", actors.After(time.Minute), "gone"),
				a.ring.Forget(self, "was never there"),
			)
		}))
		c.ok(a.on("x", func(_ context.Context, self self) error { return a.ring.Forget(self, "gone") }))
		pass(time.Hour)
		a.rang(t, "second at 3m0s")
	})
}

func TestAPeriodicReminderGoesOnUntilItIsForgotten(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		c.ok(a.on("x", func(_ context.Context, self self) error {
			return a.ring.Remind(self, "r", actors.Every(time.Minute), "tick")
		}))
		pass(3*time.Minute + time.Second)
		c.ok(a.on("x", func(_ context.Context, self self) error { return a.ring.Forget(self, "r") }))
		pass(time.Hour)
		a.rang(t, "tick at 1m0s", "tick at 2m0s", "tick at 3m0s")
	})
}

func TestTicksThatAreMissedComeAsOne(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		c.ok(a.on("x", func(_ context.Context, self self) error {
			return a.ring.Remind(self, "r", actors.Every(time.Minute), "tick")
		}))
		pass(time.Minute + time.Second)
		c.ok(c.nodes[0].Stop(context.Background()))
		pass(3*time.Minute + 30*time.Second)
		a.ctx = c.things(a.handlers()...)
		pass(time.Minute)
		a.rang(t, "tick at 1m0s", "tick at 4m31s, 2 missed", "tick at 5m0s")
	})
}

func TestASlowMethodIsNotBuriedInTicks(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		a.takes = 150 * time.Second
		c.ok(a.on("x", func(_ context.Context, self self) error {
			return a.ring.Remind(self, "r", actors.Every(time.Minute), "tick")
		}))
		pass(5 * time.Minute)
		c.ok(c.nodes[0].Stop(context.Background()))
		a.rang(t, "tick at 1m0s", "tick at 3m30s, 1 missed")
	})
}

func TestAPeriodIsRoundedUpToMilliseconds(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		c.ok(a.on("x", func(_ context.Context, self self) error {
			return a.ring.Remind(self, "r", actors.Every(1500*time.Microsecond), "tick")
		}))
		pass(time.Second)
		c.ok(a.on("x", func(_ context.Context, self self) error { return a.ring.Forget(self, "r") }))
		if n := len(a.all()); n < 480 || n > 500 {
			t.Errorf("%d ticks in a second, want one every 2 ms", n)
		}
	})
}

func TestACronReminderFollowsAClockAndSurvivesItsHost(t *testing.T) {
	inBubble(t, func(c *cluster) { // it is Saturday, 2000-01-01, 00:00 UTC
		a := newAlarm(c)
		c.ok(a.on("x", func(_ context.Context, self self) error {
			return errors.Join(
				a.ring.Remind(self, "work", actors.Cron("30 8 * * mon-fri", "Europe/Berlin"), "work"),
				a.ring.Remind(self, "noon", actors.Cron("0 12 * * *", ""), "noon"),
			)
		}))
		pass(36 * time.Hour)
		c.ok(a.on("x", func(_ context.Context, self self) error { return a.ring.Forget(self, "noon") }))
		pass(48 * time.Hour)
		c.crash(c.nodes[0])
		pass(48 * time.Hour)
		c.things(a.handlers()...)
		pass(24 * time.Hour)
		a.rang(t, "noon at 12h0m0s", "noon at 36h0m0s", "work at 55h30m0s", "work at 79h30m0s", "work at 132h0m0s, 1 missed", "work at 151h30m0s")
	})
}

func TestARemindersFaultsAreErrors(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		bad := actors.Declare[func(), none](Thing, "bad")
		for what, set := range map[string]func(self self) error{
			"no name":           func(self self) error { return a.ring.Remind(self, "", actors.After(1), "") },
			"a negative time":   func(self self) error { return a.ring.Remind(self, "r", actors.After(-1), "") },
			"no period":         func(self self) error { return a.ring.Remind(self, "r", actors.Every(0), "") },
			"a negative one":    func(self self) error { return a.ring.Remind(self, "r", actors.Every(-time.Hour), "") },
			"the zero When":     func(self self) error { return a.ring.Remind(self, "r", actors.When{}, "") },
			"the zero Time":     func(self self) error { return a.ring.Remind(self, "r", actors.At(time.Time{}), "") },
			"no cron line":      func(self self) error { return a.ring.Remind(self, "r", actors.Cron("* * * *", ""), "") },
			"no such day":       func(self self) error { return a.ring.Remind(self, "r", actors.Cron("0 0 31 2 *", ""), "") },
			"no such zone":      func(self self) error { return a.ring.Remind(self, "r", actors.Cron("* * * * *", "Mars/Base"), "") },
			"a zone of a host":  func(self self) error { return a.ring.Remind(self, "r", actors.Cron("* * * * *", "Local"), "") },
			"a bad argument":    func(self self) error { return bad.Remind(self, "r", actors.After(1), func() {}) },
			"nothing to forget": func(self self) error { return a.ring.Forget(self, "") },
		} {
			var fault error
			err := a.on("x", func(_ context.Context, self self) error { fault = set(self); return nil })
			if fault == nil || err == nil {
				t.Errorf("%s: %v, and the step: %v", what, fault, err)
			}
		}
		pass(time.Hour)
		a.rang(t)
	})
}

func TestATimerThatCannotTellIsHeardOf(t *testing.T) {
	inBubble(t, func(c *cluster) {
		bad := actors.Declare[func(), none](Thing, "bad")
		a := newAlarm(c)
		c.ok(a.on("x", func(_ context.Context, self self) error {
			bad.Timer(self, time.Second, func() {})
			return nil
		}))
		pass(time.Minute)
		if told := c.heard.Events(backstay.OutputLost); len(told) != 1 || told[0].Err == nil {
			t.Errorf("told %+v", told)
		}
	})
}

func TestATimerTellsUnlessItIsStopped(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a := newAlarm(c)
		var stop func() bool
		c.ok(a.on("x", func(_ context.Context, self self) error {
			a.ring.Timer(self, time.Second, "short")
			a.ring.Timer(self, time.Hour, "long")
			stop = a.ring.Timer(self, time.Minute, "stopped")
			return nil
		}))
		pass(30 * time.Second)
		if !stop() || stop() {
			t.Error("it was not stopped, or twice")
		}
		pass(10 * time.Minute)
		c.ok(c.nodes[0].Stop(context.Background()))
		pass(2 * time.Hour)
		a.rang(t, "short at 1s")
	})
}
