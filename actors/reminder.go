package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/internal/cron"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// When says when a reminder fires. Make it with [At], [After], [Every] or
// [Cron]; the zero When is refused. Times are rounded up to milliseconds.
type When struct {
	first  func(now int64) (int64, error) // the first tick, in milliseconds of the log's clock
	period string                         // what the runtime computes the next from; empty: once
}

// At is once, at a time by the log's clock; at once if that is past. The zero
// Time is refused.
func At(t time.Time) When {
	return When{first: func(int64) (int64, error) {
		if t.IsZero() {
			return 0, errors.New("its time is the zero Time")
		}
		return max(t.Add(time.Millisecond-1).UnixMilli(), 1), nil
	}}
}

// After is once, after a time, which must not be negative.
func After(d time.Duration) When {
	return When{first: func(now int64) (int64, error) {
		if d < 0 {
			return 0, errors.New("its time must not be negative")
		}
		return now + milliseconds(d), nil
	}}
}

// Every is again and again, first after one period. Ticks that are missed
// while nobody owned the actor, or while the method still ran, come as one; see
// [Self.Missed].
func Every(d time.Duration) When {
	every := time.Duration(milliseconds(d)) * time.Millisecond
	return When{period: every.String(), first: func(now int64) (int64, error) {
		if d <= 0 {
			return 0, errors.New("its period must be positive")
		}
		return now + every.Milliseconds(), nil
	}}
}

// Cron is again and again, when a clock in a time zone shows what the line says:
// five fields, minute, hour, day of month, month and day of week, each a list
// of *, values, ranges and steps.
//
//	actors.Cron("30 8 * * mon-fri", "Europe/Berlin")
//
// The zone is a name of the IANA database, which all hosts must have (import
// time/tzdata if in doubt); empty means UTC. Where clocks are changed, a line
// whose hour begins with * follows elapsed time. Any other follows the clock: a
// time that is shown twice is due once, the first time, and one that is skipped
// is due when the clock jumps over it. Ticks that are missed come as one, as
// those of Every do.
func Cron(line, zone string) When {
	text := cron.Text(line, zone)
	return When{period: text, first: func(now int64) (int64, error) {
		s, err := cron.Read(text)
		if err != nil {
			return 0, err
		}
		if first := s.Next(now); first > 0 {
			return first, nil
		}
		return 0, fmt.Errorf("%q is not due within 40 years", line)
	}}
}

// Remind sets a durable alarm of the actor: with this step, or not at all. When
// it is due, the method is called with in, as a tell, exactly once for every
// tick, never early, whoever owns the actor then. A reminder of the same name
// is replaced.
func (m Method[In, Out, A]) Remind(self Self[A], name string, w When, in In) error {
	switch {
	case name == "":
		return self.spoil(errNameless)
	case w.first == nil:
		return self.spoil(mistake("actors: reminder %q: the zero When says no time: make one with At, After, Every or Cron", name))
	}
	first, err := w.first(self.attempt.Now())
	if err != nil {
		return self.spoil(mistake("actors: reminder %q: %w", name, err))
	}
	args, err := self.node.codec.Encode(in)
	if err != nil {
		return self.spoil(mistake("actors: argument of reminder %q: %w", name, err))
	}
	return self.changed(self.attempt.Remind(record.Reminder{
		Name: name, Next: first, Period: w.period, Method: m.name, Args: args, Baggage: self.attempt.Request().Baggage,
	}))
}

var errNameless = permanent("actors: a reminder needs a name")

// milliseconds are those of d, rounded up.
func milliseconds(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}

// Forget removes a reminder that was set with Remind, with this step: it does
// not fire any more, even if it is due. It is no error if there is none.
func (m Method[In, Out, A]) Forget(self Self[A], name string) error {
	if name == "" {
		return self.spoil(errNameless)
	}
	return self.changed(self.attempt.Remind(record.Reminder{Name: name}))
}
