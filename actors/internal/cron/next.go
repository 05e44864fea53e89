package cron

import "time"

// horizon is beyond what the rarest line waits for: a 29th of February that is
// a Sunday may be forty years away.
const horizon = 41 * 366 * 24 * time.Hour

// Next is the first time after another that the line is due, in after's zone.
// It is the zero Time if that is more than 41 years away.
func (l Line) Next(after time.Time) time.Time {
	due := l.shown(after)
	for at := after; ; {
		_, at = at.ZoneBounds()
		if at.IsZero() || !due.IsZero() && !at.Before(due) {
			return due
		}
		if at.Sub(after) > horizon {
			return due
		}
		if l.skipped(at) {
			return at
		}
	}
}

// shown is the first time after another that clocks show as the line says.
func (l *Line) shown(after time.Time) time.Time {
	t := after.Truncate(time.Minute).Add(time.Minute)
	t = t.Add(-time.Duration(t.Second()) * time.Second) // zones of old had seconds
	for t.Sub(after) < horizon {
		switch {
		case !l.month.has(int(t.Month())):
			t = forward(t, time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, t.Location()))
		case !l.fits(t):
			t = forward(t, time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location()))
		case !l.hour.has(t.Hour()):
			t = t.Add(time.Duration(60-t.Minute()) * time.Minute)
		case !l.minute.has(t.Minute()), !l.everyHour && again(t):
			t = t.Add(time.Minute)
		default:
			return t
		}
	}
	return time.Time{}
}

// fits reports whether the line is due on a day.
func (l *Line) fits(t time.Time) bool {
	day, weekday := l.day.has(t.Day()), l.weekday.has(int(t.Weekday()))
	if l.eitherDay {
		return day || weekday
	}
	return day && weekday
}

// forward is to, which the zone may have put before t: a midnight that is
// skipped.
func forward(t, to time.Time) time.Time {
	if to.After(t) {
		return to
	}
	return t.Add(time.Minute)
}

// again reports whether clocks show t for the second time.
func again(t time.Time) bool {
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return false
	}
	return t.Sub(start) < -jump(start)
}

// skipped reports whether clocks that are changed at a time jump over one at
// which the line is due.
func (l *Line) skipped(at time.Time) bool {
	gap := jump(at)
	if gap <= 0 || l.everyHour {
		return false
	}
	_, offset := at.Zone()
	clock := at.UTC().Add(time.Duration(offset)*time.Second - gap) // as it would have gone on
	for end := clock.Add(gap); clock.Before(end); clock = clock.Add(time.Minute) {
		if l.month.has(int(clock.Month())) && l.fits(clock) && l.hour.has(clock.Hour()) && l.minute.has(clock.Minute()) {
			return true
		}
	}
	return false
}

// jump is by how much clocks are put forward at a time.
func jump(at time.Time) time.Duration {
	_, before := at.Add(-1).Zone()
	_, after := at.Zone()
	return time.Duration(after-before) * time.Second
}
