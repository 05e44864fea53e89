package actorstest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
)

// The paper's programs: a main that calls a task that calls back, and a latch
// that is closed by many and waited for by one.
type (
	caller struct{}
	worker struct{}
	latch  struct{}
)

var (
	Caller   = actors.NewType[caller]("caller")
	Main     = actors.Declare[int, int](Caller, "main")
	Callback = actors.Declare[int, int](Caller, "callback")
	called   = actors.NewMap[string, bool](Caller, "called")

	Worker = actors.NewType[worker]("worker")
	Task   = actors.Declare[task, int](Worker, "task")

	Latch  = actors.NewType[latch]("latch")
	Arrive = actors.Declare[string, int](Latch, "arrive")
	Open   = actors.DeclareQuery[int, bool](Latch, "open")
	came   = actors.NewMap[string, bool](Latch, "came")
)

type task struct {
	From actors.Ref[caller]
	N    int
}

func reentrantHostings(s *Sim) []actors.Hosting {
	return []actors.Hosting{
		actors.Host(Caller, actors.Settings{},
			actors.Handle(Main, func(ctx context.Context, self actors.Self[caller], n int) (int, error) {
				n, err := Task.Call(ctx, Worker.Ref(fmt.Sprint(n%2)), task{self.Ref(), n})
				return n, inTime(ctx, err)
			}),
			actors.Handle(Callback, func(ctx context.Context, self actors.Self[caller], n int) (int, error) {
				s.Point(ctx, "callback")
				return n + 1, called.Set(self, fmt.Sprint(n), true)
			})),
		actors.Host(Worker, actors.Settings{},
			actors.Handle(Task, func(ctx context.Context, _ actors.Self[worker], in task) (int, error) {
				s.Point(ctx, "task")
				n, err := Callback.Call(ctx, in.From, in.N)
				sleep(ctx, pause)
				return n, inTime(ctx, err)
			})),
		actors.Host(Latch, actors.Settings{},
			actors.Handle(Arrive, func(ctx context.Context, self actors.Self[latch], who string) (int, error) {
				s.Point(ctx, "arrive")
				if err := came.Set(self, who, true); err != nil {
					return 0, err
				}
				n := 0
				for _, err := range came.All(ctx, self) {
					if err != nil {
						return 0, err
					}
					n++
				}
				return n, nil
			}),
			actors.HandleShared(Open, func(ctx context.Context, view actors.View[latch], want int) (bool, error) {
				n := 0
				for _, err := range came.All(ctx, view) {
					if err != nil {
						return false, err
					}
					n++
				}
				return n >= want, nil
			})),
	}
}

// inTime has a method tried again whose time was up before a call was answered,
// or began: it may have waited for an owner who had to give up first.
func inTime(ctx context.Context, err error) error {
	if err != nil && (ctx.Err() != nil || errors.Is(err, actors.ErrExpired)) {
		return actors.Retry(err, 0)
	}
	return err
}

// Acceptance case A12, A39.
func TestA12_MainTaskCallbackCompletesUnderFaults(t *testing.T) {
	RunWith(t, Options{Points: []string{"callback", "task"}}, func(s *Sim) {
		s.Start(3, reentrantHostings(s)...)
		for n := range 6 {
			at := time.Duration(s.Rand().IntN(1000)) * time.Millisecond
			s.Go(func(ctx context.Context) {
				time.Sleep(at)
				got, err := Main.Call(ctx, Caller.Ref(fmt.Sprint(n%3)), n)
				if err != nil || got != n+1 {
					s.Errorf("main of %d: %d, %v", n, got, err)
				}
			})
		}
		s.Settle()
	})
}

// Acceptance case A12, A82.
func TestALatchOpensWhenAllHaveComeAndStaysOpen(t *testing.T) {
	RunWith(t, Options{Points: []string{"arrive"}}, func(s *Sim) {
		const n = 5
		s.Start(3, reentrantHostings(s)...)
		for i := range n {
			at := time.Duration(s.Rand().IntN(1500)) * time.Millisecond
			s.Go(func(ctx context.Context) {
				time.Sleep(at)
				if _, err := Arrive.Call(ctx, Latch.Ref("l"), fmt.Sprint(i)); err != nil {
					s.Errorf("arrive: %v", err)
				}
			})
		}
		s.Go(func(ctx context.Context) {
			was := false
			for range 60 {
				open, err := Open.Call(ctx, Latch.Ref("l"), n)
				if err != nil || was && !open {
					s.Errorf("open: %v after %v, %v", open, was, err)
					return
				}
				was = open
				time.Sleep(100 * time.Millisecond)
			}
		})
		s.Settle()
		if open, err := Open.Call(s.Context(), Latch.Ref("l"), n); err != nil || !open {
			s.Errorf("at the end it is open: %v, %v", open, err)
		}
	})
}

// Acceptance case A55.
func TestA55_WhenAllProcessesDieAndComeBackEveryPendingRequestRuns(t *testing.T) {
	RunWith(t, Options{Seeds: 10, Faultless: true}, func(s *Sim) {
		s.Start(3, reentrantHostings(s)...)
		for n := range 6 {
			s.Go(func(ctx context.Context) {
				got, err := Main.Call(ctx, Caller.Ref(fmt.Sprint(n%3)), n)
				if err != nil || got != n+1 {
					s.Errorf("main of %d: %d, %v", n, got, err)
				}
			})
		}
		time.Sleep(time.Duration(s.Rand().IntN(30_000)) * time.Microsecond)
		s.Kill()
		s.Settle()
	})
}
