package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// When says when a reminder fires. Make it with [At], [After] or [Every]. Times
// are rounded up to milliseconds.
type When struct {
	at     time.Time
	after  time.Duration
	period time.Duration
}

// At is once, at a time by the log's clock; at once if that is past.
func At(t time.Time) When { return When{at: t} }

// After is once, after a time.
func After(d time.Duration) When { return When{after: d} }

// Every is again and again, first after one period. Ticks that are missed
// while nobody owned the actor, or while the method still ran, come as one; see
// [Self.Missed].
func Every(d time.Duration) When {
	if d <= 0 {
		d = -1 // no period, and no "once" either: an error of Remind
	}
	return When{after: d, period: d}
}

// Remind sets a durable alarm of the actor: with this step, or not at all. When
// it is due, the method is called with in, as a tell, exactly once for every
// tick, never early, whoever owns the actor then. A reminder of the same name
// is replaced.
func (m Method[A, In, Out]) Remind(self Self[A], name string, w When, in In) error {
	switch {
	case name == "":
		return self.spoil(errors.New("actors: a reminder needs a name"))
	case w.after < 0:
		return self.spoil(fmt.Errorf("actors: reminder %q: its time must not be negative, and its period positive", name))
	}
	args, err := self.node.codec.Encode(in)
	if err != nil {
		return self.spoil(fmt.Errorf("actors: argument of reminder %q: %w", name, err))
	}
	next := self.attempt.Now() + milliseconds(w.after)
	if !w.at.IsZero() {
		next = w.at.Add(time.Millisecond - 1).UnixMilli()
	}
	r := record.Reminder{
		Name: name, Next: max(next, 1), Method: m.name, Args: args, Baggage: self.attempt.Request().Baggage,
	}
	if w.period > 0 {
		r.Period = (time.Duration(milliseconds(w.period)) * time.Millisecond).String()
	}
	return self.changed(self.attempt.Remind(r))
}

// milliseconds are those of d, rounded up.
func milliseconds(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}

// Forget removes a reminder of the actor, with this step: it does not fire any
// more, even if it is due. It is no error if there is none.
func (s Self[A]) Forget(name string) error {
	if name == "" {
		return s.spoil(errors.New("actors: a reminder needs a name"))
	}
	return s.changed(s.attempt.Remind(record.Reminder{Name: name}))
}
