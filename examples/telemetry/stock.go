package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// stock is a service that misbehaves on demand.
type stock struct {
	requests atomic.Int64
	mood     atomic.Pointer[mood]
}

// mood says how long the n-th request takes, and with what status it ends.
type mood func(n int64) (time.Duration, int)

func newStock() *stock {
	s := new(stock)
	s.be(well)
	return s
}

// be changes the mood and counts anew.
func (s *stock) be(m mood) {
	s.requests.Store(0)
	s.mood.Store(&m)
}

func well(int64) (time.Duration, int) { return time.Millisecond, http.StatusOK }

// flaky fails two requests of twelve, one after the other: the copy of a request
// that failed fails, too.
func flaky(n int64) (time.Duration, int) {
	if n%12 < 2 {
		return 0, http.StatusServiceUnavailable
	}
	return well(n)
}

// uneven takes long for every tenth.
func uneven(n int64) (time.Duration, int) {
	if n%10 == 0 {
		return 100 * time.Millisecond, http.StatusOK
	}
	return well(n)
}

func slow(int64) (time.Duration, int) { return 100 * time.Millisecond, http.StatusOK }

func down(int64) (time.Duration, int) { return 0, http.StatusServiceUnavailable }

func (s *stock) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	takes, status := (*s.mood.Load())(s.requests.Add(1))
	select {
	case <-time.After(takes):
	case <-req.Context().Done():
		return
	}
	w.WriteHeader(status)
	fmt.Fprintln(w, "12 tins of soup")
}
