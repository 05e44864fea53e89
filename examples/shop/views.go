package main

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// view is what one customer saw of one request.
type view struct {
	took   time.Duration
	status int  // 0 where there was no answer
	stale  bool // the answer is an old one, and says so
	err    error
}

// seen sums up the views of some time.
type seen struct {
	good, stale     int // answers, and old answers
	refused, failed int // no answer: somebody refused in time, or something broke
	took            []time.Duration
}

// add sorts v.
func (s *seen) add(v view) {
	s.took = append(s.took, v.took)
	switch {
	case v.err != nil && errors.Is(v.err, backstay.ErrRejected):
		s.refused++
	case v.err != nil:
		s.failed++
	case v.status == http.StatusServiceUnavailable || v.status == http.StatusGatewayTimeout:
		s.refused++
	case v.status >= http.StatusBadRequest:
		s.failed++
	case v.stale:
		s.stale++
	default:
		s.good++
	}
}

// slowest returns the time within which the share q had an answer.
func (s *seen) slowest(q float64) time.Duration {
	if len(s.took) == 0 {
		return 0
	}
	slices.Sort(s.took)
	return s.took[min(len(s.took)-1, int(q*float64(len(s.took))))]
}

// views are those of all customers, since they were last taken.
type views struct {
	mu sync.Mutex
	seen
}

func (v *views) add(one view) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen.add(one)
}

// take returns what was seen since it was last called.
func (v *views) take() seen {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.seen
	v.seen = seen{}
	return s
}
