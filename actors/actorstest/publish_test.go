package actorstest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

// ledger is a type of actors for this test.
type ledger struct{}

func TestMessagesOfATopicAreToldOnceAndInOrderUnderFaults(t *testing.T) {
	Ledger := actors.NewType[ledger]("ledger")
	add := actors.Declare[int, struct{}](Ledger, "add")
	entries := actors.NewValue[[]int](Ledger, "entries")
	look := actors.DeclareQuery[struct{}, []int](Ledger, "look")
	hosting := func(s *Sim) actors.Hosting {
		return actors.Host(Ledger, actors.Settings{Retry: retry.Config{MaxAttempts: 100}},
			actors.Handle(add, func(ctx context.Context, self actors.Self[ledger], n int) (struct{}, error) {
				s.Point(ctx, "add")
				all, err := entries.Get(ctx, self)
				if err != nil {
					return struct{}{}, actors.Retry(err, 0)
				}
				return struct{}{}, entries.Set(self, append(all, n))
			}),
			actors.HandleShared(look, func(ctx context.Context, view actors.View[ledger], _ struct{}) ([]int, error) {
				return entries.Get(ctx, view)
			}),
		).Ingest("bookings", func(m actors.Incoming) (actors.Telling, error) {
			var n int
			_, err := fmt.Sscan(string(m.Value), &n)
			return add.Telling(Ledger.Ref(m.Key), n), err
		})
	}
	RunWith(t, Options{Seeds: 20, Points: []string{"add"}}, func(s *Sim) {
		s.Start(3, hosting(s))
		want := make(map[string][]int)
		for n := range 30 {
			key := fmt.Sprint("account", s.Rand().IntN(4))
			want[key] = append(want[key], n)
			s.Publish(actors.Message{Topic: "bookings", Key: key, Value: []byte(fmt.Sprint(n))})
			time.Sleep(time.Duration(s.Rand().IntN(60)) * time.Millisecond)
		}
		s.Settle()
		for key, n := range want {
			if got, err := look.Call(s.Context(), Ledger.Ref(key), struct{}{}); err != nil || !slices.Equal(got, n) {
				s.Errorf("%s has %v, %v; want %v", key, got, err, n)
			}
		}
	})
}
