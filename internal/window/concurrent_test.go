package window_test

import (
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/window"
)

// together runs f on several goroutines, each with its own number.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func TestLastNeverLosesCountUnderContention(t *testing.T) {
	const workers, each, size = 8, 2000, 100
	l := window.NewLast(size)
	together(workers, func(i int) {
		for n := range each {
			l.Add(n%(i+2) == 0, n%(i+3) == 0)
			if c := l.Counts(); c.Failures > c.Calls || c.Slow > c.Calls || c.Calls > size {
				t.Errorf("impossible counts %+v", c)
				return
			}
		}
	})
	for range size {
		l.Add(false, false)
	}
	if got, want := l.Counts(), (window.Counts{Calls: size}); got != want {
		t.Errorf("after %d successes: %+v, want %+v", size, got, want)
	}
}

func TestRollingLosesNothingUnderContention(t *testing.T) {
	const workers, each = 8, 2000
	r := window.NewRolling(time.Minute, 6)
	together(workers, func(int) {
		for n := range each {
			r.Add(backstay.Instant(n+1)*backstay.Instant(25*time.Millisecond), n%2 == 0, n%4 == 0)
		}
	})
	c := r.Counts(backstay.Instant(50 * time.Second))
	c.Consecutive = 0
	if want := (window.Counts{Calls: workers * each, Failures: workers * each / 2, Slow: workers * each / 4}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func TestRollingIsNeverTornWhileItTurns(t *testing.T) {
	r := window.NewRolling(4, 2) // a bucket every two nanoseconds
	together(4, func(i int) {
		for n := range 5000 {
			now := backstay.Instant(n + i)
			r.Add(now, true, false)
			if c := r.Counts(now); c.Failures > c.Calls {
				t.Errorf("impossible counts %+v", c)
				return
			}
		}
	})
}
