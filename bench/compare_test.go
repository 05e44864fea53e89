// Package bench measures Backstay's policies beside other libraries, in one
// run. Benchmarks are named subject/case/library, and "bare" is the case with
// no library at all. Every library is configured for the same job, and is
// asked before it is timed whether it does it.
package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var errBackend = errors.New("backend failed")

// library is one way to make a call.
type library struct {
	name string
	call func(ctx context.Context) error
}

// verdict says what a call has to return to be the case that is measured.
type verdict func(error) bool

func succeeds(err error) bool { return err == nil }
func fails(err error) bool    { return err != nil }

// refused is for calls that must not reach the backend.
func refused(err error) bool { return err != nil && !errors.Is(err, errBackend) }

// reached is for calls that the backend has to see, however it answers.
func reached(err error) bool { return !refused(err) }

// compare times every library on the case called name.
func compare(b *testing.B, name string, want verdict, libraries ...library) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		for _, l := range libraries {
			b.Run(l.name, func(b *testing.B) { measure(b, b.Context(), l, want) })
		}
	})
}

// compareParallel is compare from as many goroutines as there are processors.
func compareParallel(b *testing.B, name string, want verdict, libraries ...library) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		for _, l := range libraries {
			b.Run(l.name, func(b *testing.B) { measureParallel(b, l, want) })
		}
	})
}

// within is compare with a caller whose own deadline is a minute away: nearer
// than the attempt timeout of the libraries, so that no timer is needed.
func within(b *testing.B, name string, want verdict, libraries ...library) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		for _, l := range libraries {
			b.Run(l.name, func(b *testing.B) {
				ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
				defer cancel()
				measure(b, ctx, l, want)
			})
		}
	})
}

// inTurns times all libraries within one benchmark, for calls that cost so much
// by themselves that the moods of the machine are larger than what a library
// adds. They take turns in bursts of a millisecond or less, so that all meet the
// same moods, and the tenth percentile of the bursts is told: neighbours slow
// down most of them, and none is quicker than it should be. The unit of each is
// its name and ns/call.
func inTurns(b *testing.B, name string, want verdict, libraries ...library) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		const calls = 20
		bursts := make([][]float64, len(libraries))
		for round := 0; b.Loop(); round++ {
			for i := range libraries {
				turn := (round + i) % len(libraries)
				bursts[turn] = append(bursts[turn], burst(b, calls, libraries[turn], want))
			}
		}
		for i, l := range libraries {
			slices.Sort(bursts[i])
			b.ReportMetric(bursts[i][len(bursts[i])/10], l.name+"-ns/call")
		}
	})
}

// burst returns the nanoseconds that one of so many calls takes.
func burst(b *testing.B, calls int, l library, want verdict) float64 {
	b.Helper()
	ctx := b.Context()
	began := time.Now()
	for range calls {
		if err := l.call(ctx); !want(err) {
			b.Fatalf("%s does not do what is measured: %v", l.name, err)
		}
	}
	return float64(time.Since(began)) / float64(calls)
}

func measure(b *testing.B, ctx context.Context, l library, want verdict) {
	b.Helper()
	check(b, ctx, l, want)
	b.ReportAllocs()
	var last error
	for b.Loop() {
		last = l.call(ctx)
	}
	if !want(last) {
		b.Fatalf("%s stopped doing what is measured: %v", l.name, last)
	}
}

func measureParallel(b *testing.B, l library, want verdict) {
	b.Helper()
	ctx := context.Background()
	check(b, ctx, l, want)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := l.call(ctx); !want(err) {
				b.Errorf("%s: %v", l.name, err)
				return
			}
		}
	})
}

// crowd is one library as n callers have it.
func crowd(n int, of func(i int) library) []library {
	all := make([]library, n)
	for i := range all {
		all[i] = of(i)
	}
	return all
}

// compareCrowd is compare with many callers at once.
func compareCrowd(b *testing.B, name string, want verdict, crowds ...[]library) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		for _, c := range crowds {
			b.Run(c[0].name, func(b *testing.B) { measureCrowd(b, c, want) })
		}
	})
}

func measureCrowd(b *testing.B, callers []library, want verdict) {
	b.Helper()
	ctx := context.Background()
	for _, l := range callers {
		check(b, ctx, l, want)
	}
	var all sync.WaitGroup
	var begun atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	for _, l := range callers {
		all.Go(func() {
			for begun.Add(1) <= int64(b.N) {
				if err := l.call(ctx); !want(err) {
					b.Errorf("%s: %v", l.name, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func check(b *testing.B, ctx context.Context, l library, want verdict) {
	b.Helper()
	if err := l.call(ctx); !want(err) {
		b.Fatalf("%s does not do what is measured: %v", l.name, err)
	}
}

// without leaves out the library called name.
func without(name string, libraries []library) []library {
	return slices.DeleteFunc(libraries, func(l library) bool { return l.name == name })
}

// must is for constructors that fail only if this file is wrong.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
