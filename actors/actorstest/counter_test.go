package actorstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// counter counts in a store outside, in three ways.
type counter struct{}

var (
	Counter = actors.NewType[counter]("counter")

	// Chained reads, and writes in a tail call: the right one.
	Chained = actors.Declare[struct{}, int](Counter, "chained")
	// Naive reads and writes in one method.
	Naive = actors.Declare[struct{}, int](Counter, "naive")
	// Nested reads, and writes in a nested call.
	Nested = actors.Declare[struct{}, int](Counter, "nested")

	assign = actors.Declare[int, int](Counter, "assign")
)

var errStale = errors.New("the store knows a newer owner")

const pause = 3 * time.Millisecond

func counters(s *Sim, o *outside) actors.Hosting {
	read := func(ctx context.Context, self actors.Self[counter]) (int, error) {
		s.Point(ctx, "read")
		sum, fresh := o.get(self.ID(), self.FencingToken())
		if !fresh {
			return 0, actors.Retry(errStale, 0)
		}
		sleep(ctx, pause)
		return sum, nil
	}
	write := func(ctx context.Context, self actors.Self[counter], sum int) (int, error) {
		s.Point(ctx, "write")
		if !o.set(self.ID(), self.FencingToken(), sum) {
			return 0, actors.Retry(errStale, 0)
		}
		s.Point(ctx, "written")
		sleep(ctx, pause)
		return sum, nil
	}
	return actors.Host(Counter, actors.Settings{},
		actors.Handle(assign, write),
		actors.HandleNext(Chained, func(ctx context.Context, self actors.Self[counter], _ struct{}) (actors.Next[int], error) {
			sum, err := read(ctx, self)
			return assign.Tail(self, sum+1), err
		}),
		actors.Handle(Naive, func(ctx context.Context, self actors.Self[counter], _ struct{}) (int, error) {
			sum, err := read(ctx, self)
			if err != nil {
				return 0, err
			}
			return write(ctx, self, sum+1)
		}),
		actors.Handle(Nested, func(ctx context.Context, self actors.Self[counter], _ struct{}) (int, error) {
			sum, err := read(ctx, self)
			if err != nil {
				return 0, err
			}
			sum, err = assign.Call(ctx, self.Ref(), sum+1)
			s.Point(ctx, "called")
			sleep(ctx, pause)
			return sum, err
		}),
	)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// counting counts n times, and returns a function that says how often it was
// counted and how often that was answered.
func counting(n int, how actors.Method[struct{}, int, counter]) func(s *Sim) (got, want int) {
	return func(s *Sim) (got, want int) {
		o := newOutside()
		s.Start(3, counters(s, o))
		answered := make(chan bool, n)
		for range n {
			at := time.Duration(s.Rand().IntN(1000)) * time.Millisecond
			s.Go(func(ctx context.Context) {
				time.Sleep(at)
				_, err := how.Call(ctx, Counter.Ref("c"), struct{}{})
				answered <- err == nil
			})
		}
		s.Settle()
		close(answered)
		for yes := range answered {
			if yes {
				want++
			}
		}
		return o.sum("c"), want
	}
}

var points = Options{Points: []string{"read", "write", "written", "called"}}

// Acceptance case A23.
func TestA23_GetThenTailSetCountsExactlyInAStoreOutside(t *testing.T) {
	RunWith(t, points, func(s *Sim) {
		got, want := counting(6, Chained)(s)
		if got < want { // what was given up may have been written
			s.Errorf("counted to %d, and answered %d times", got, want)
		}
		if got > 6 {
			s.Errorf("counted to %d with 6 calls", got)
		}
	})
}

// Acceptance case A24.
func TestA24_TheTwoWrongWaysToCountOverCountUnderSomeSchedule(t *testing.T) {
	for name, how := range map[string]actors.Method[struct{}, int, counter]{"in one method": Naive, "in a nested call": Nested} {
		t.Run(name, func(t *testing.T) {
			const n, seeds = 6, 60
			for seed := uint64(1); seed <= seeds; seed++ {
				var got int
				bad := try(t, points, seed, simtest.Plan(seed, 3, 3*time.Second, points.Points...), func(s *Sim) { got, _ = counting(n, how)(s) })
				if len(bad) > 0 {
					t.Fatalf("seed %d: what actors promise holds for wrong programs, too: %v", seed, bad)
				}
				if got > n {
					t.Logf("seed %d: %d calls counted to %d", seed, n, got)
					return
				}
			}
			t.Errorf("it counts right under %d seeds: nothing goes wrong there", seeds)
		})
	}
}
