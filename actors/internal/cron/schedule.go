package cron

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is a line in a zone, as text that can be stored: "cron Europe/Berlin
// 30 8 * * 1-5".
type Schedule struct {
	line Line
	zone *time.Location
}

// prefix begins the text of a schedule.
const prefix = "cron "

// Text is a schedule as it is stored. The zone is a name of the IANA database;
// empty means UTC.
func Text(line, zone string) string {
	if zone == "" {
		zone = "UTC"
	}
	return prefix + zone + " " + strings.Join(strings.Fields(line), " ")
}

// Is reports whether a text is meant to be a schedule.
func Is(text string) bool { return strings.HasPrefix(text, prefix) }

// Read reads a schedule.
func Read(text string) (Schedule, error) {
	zone, line, _ := strings.Cut(strings.TrimPrefix(text, prefix), " ")
	if zone == "Local" || zone == "" {
		return Schedule{}, fmt.Errorf("the zone %q is another one on every host: name it", zone)
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return Schedule{}, fmt.Errorf("the zone of a cron line: %w", err)
	}
	l, err := Parse(line)
	return Schedule{line: l, zone: location}, err
}

// Next is the first time after another, in milliseconds since 1970, 0 if there
// is none.
func (s Schedule) Next(after int64) int64 {
	next := s.line.Next(time.UnixMilli(after).In(s.zone))
	if next.IsZero() {
		return 0
	}
	return next.UnixMilli()
}

// mostMissed bounds the ticks that are counted one by one.
const mostMissed = 10_000

// Then is the first time after now, and how many there were from a tick that
// was due, which does not count itself, up to now; at most 10,000.
func (s Schedule) Then(tick, now int64) (then int64, missed uint64) {
	then = s.Next(tick)
	for then > 0 && then <= now {
		if missed++; missed == mostMissed {
			return s.Next(now), missed
		}
		then = s.Next(then)
	}
	return then, missed
}
