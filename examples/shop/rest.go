package main

import (
	"fmt"
	"runtime"
	"time"
)

// warm is when a program has all that it needs: what it takes then, it should
// take later on, too.
const warm = time.Minute

// sample is what the program takes at rest.
type sample struct {
	at         time.Duration // since the start
	goroutines int
	heap       uint64 // bytes that are alive
}

// rest takes a sample between two rounds, when nobody calls anybody.
func (s *shop) rest(began time.Time) sample {
	s.wire.CloseIdleConnections()
	least := runtime.NumGoroutine()
	for range 20 { // connections end in the background
		time.Sleep(20 * time.Millisecond)
		least = min(least, runtime.NumGoroutine())
	}
	runtime.GC()
	runtime.GC() // what the first one has finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return sample{at: time.Since(began), goroutines: least, heap: m.HeapAlloc}
}

// leaks compares what is taken at the end with what was taken before.
type leaks struct {
	first, last sample
	any         bool
}

// add takes up s, if the program was warm by then.
func (l *leaks) add(s sample) {
	if s.at < warm {
		return
	}
	if !l.any {
		l.first, l.any = s, true
	}
	l.last = s
}

// err says what has grown that should not: by a few goroutines, by a quarter of
// the heap and 1 MiB.
func (l *leaks) err() error {
	switch {
	case !l.any:
		return nil
	case l.last.goroutines > l.first.goroutines+5:
		return fmt.Errorf("goroutines leak: %d after %v, %d after %v",
			l.first.goroutines, l.first.at.Round(time.Second), l.last.goroutines, l.last.at.Round(time.Second))
	case l.last.heap > l.first.heap+l.first.heap/4+1<<20:
		return fmt.Errorf("memory leaks: %d KiB after %v, %d KiB after %v",
			l.first.heap>>10, l.first.at.Round(time.Second), l.last.heap>>10, l.last.at.Round(time.Second))
	}
	return nil
}

// String tells both.
func (l *leaks) String() string {
	if !l.any {
		return "goroutines and memory are compared in runs of two minutes and more"
	}
	return fmt.Sprintf("at rest after %v: %d goroutines, %d KiB alive; after %v: %d goroutines, %d KiB alive",
		l.first.at.Round(time.Second), l.first.goroutines, l.first.heap>>10,
		l.last.at.Round(time.Second), l.last.goroutines, l.last.heap>>10)
}
