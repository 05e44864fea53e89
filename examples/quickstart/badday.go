package main

import (
	"net/http"
	"time"
)

// day is a bad one: so long, with so many calls spread evenly over it.
type day struct {
	length time.Duration
	calls  int
}

// The menu takes so long for an answer, and for an unlucky one.
const (
	usual = 5 * time.Millisecond
	slow  = 100 * time.Millisecond
)

// outage says when the menu is down: for a fifth of the day.
func (d day) outage() (from, to time.Duration) { return d.length * 2 / 5, d.length * 3 / 5 }

// dawn begins the day and returns the menu's mood for it: one answer in 20 is
// a failure, one in 25 is slow, and in the outage half of the requests are
// refused, while the others get no answer at all.
func (d day) dawn() mood {
	from, to := d.outage()
	began := time.Now()
	return func(n int64, _ *http.Request) (time.Duration, int) {
		now := time.Since(began)
		down := from <= now && now < to
		switch {
		case down && n%2 == 0, n%20 == 0:
			return 0, http.StatusServiceUnavailable
		case down:
			return time.Minute, http.StatusOK
		case n%25 == 7:
			return slow, http.StatusOK
		default:
			return usual, http.StatusOK
		}
	}
}
