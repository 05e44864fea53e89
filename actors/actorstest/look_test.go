package actorstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

// patient is a type of actors for this test.
type patient struct{}

func TestDeadLettersAreSeenOnceEach(t *testing.T) {
	Patient := actors.NewType[patient]("patient")
	die := actors.Declare[int, int](Patient, "die")
	RunWith(t, Options{Seeds: 5}, func(s *Sim) {
		s.Start(2, actors.Host(Patient, actors.Settings{Retry: retry.Config{MaxAttempts: 1}}, actors.Handle(die, func(context.Context, actors.Self[patient], int) (int, error) {
			return 0, actors.Retry(errors.New("always"), 0)
		})))
		for i := range 4 {
			s.Go(func(ctx context.Context) {
				if _, err := die.Call(ctx, Patient.Ref("p"), i); !errors.Is(err, actors.ErrPoison) {
					s.Errorf("call %d: %v", i, err)
				}
			})
		}
		s.Settle()
		time.Sleep(10 * time.Second) // the letters are under way
		all := s.DeadLetters()
		if len(all) != 4 {
			s.Errorf("%d letters", len(all))
		}
		for _, d := range all {
			if d.Type != "patient" || d.ID != "p" || d.Reason != "poison" {
				s.Errorf("got %+v", d)
			}
		}
		owned := 0
		for _, one := range s.Inspect() {
			owned += len(one.Partitions)
		}
		if owned != 3 {
			s.Errorf("%d partitions are owned", owned)
		}
	})
}

// Replies that are deferred come through every fault, and the same to all who
// ask again.
func TestDeferredRepliesSurviveFaults(t *testing.T) {
	Patient := actors.NewType[patient]("patient")
	ask := actors.Declare[int, int](Patient, "ask")
	order := actors.Declare[int, int](Patient, "order")
	decide := actors.Declare[question, struct{}](Patient, "decide")
	RunWith(t, Options{Seeds: 15}, func(s *Sim) {
		s.Start(3, actors.Host(Patient, actors.Settings{Retry: retry.Config{MaxAttempts: 50}},
			actors.HandleNext(ask, func(ctx context.Context, self actors.Self[patient], n int) (actors.Next[int], error) {
				token, reply := actors.Defer[int](self, time.Hour)
				return reply, decide.Tell(ctx, Patient.Ref("judge"), question{token, n})
			}),
			actors.Handle(decide, func(ctx context.Context, _ actors.Self[patient], q question) (struct{}, error) {
				sleep(ctx, pause)
				return struct{}{}, q.Token.Complete(ctx, 2*q.N)
			}),
			actors.Handle(order, func(ctx context.Context, _ actors.Self[patient], n int) (int, error) {
				return ask.Call(ctx, Patient.Ref("clerk"), n)
			}),
		))
		for n := range 6 {
			s.Go(func(ctx context.Context) {
				m := order
				if n%2 == 0 {
					m = ask
				}
				if got, err := m.Call(ctx, Patient.Ref("p"), n); err != nil || got != 2*n {
					s.Errorf("%d: %d, %v", n, got, err)
				}
			})
		}
		s.Settle()
	})
}

// question is what the judge decides.
type question struct {
	Token actors.Token[int]
	N     int
}
