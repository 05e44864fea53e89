package actors_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
)

func TestActorsAreListed(t *testing.T) {
	inBubble(t, func(c *cluster) {
		kept, entries := actors.NewValue[int](Thing, "kept"), actors.NewMap[string, int](Thing, "entries")
		s := script(c)
		want := map[string]actors.Listed[thing]{}
		for i := range 2500 {
			id := fmt.Sprintf("%d", i)
			c.ok(s.on(id, func(_ context.Context, self self) error { return kept.Set(self, i) }))
			want[id] = actors.Listed[thing]{Ref: Thing.Ref(id), Values: 1}
		}
		c.ok(s.on("0", func(_ context.Context, self self) error {
			return errors.Join(entries.Set(self, "a", 1), s.run.Remind(self, "r", actors.After(time.Hour), 0))
		}))
		c.ok(s.on("only-a-reminder", func(_ context.Context, self self) error { return s.run.Remind(self, "r", actors.After(time.Hour), 0) }))
		c.ok(s.on("nothing", func(context.Context, self) error { return nil }))
		want["0"] = actors.Listed[thing]{Ref: Thing.Ref("0"), Values: 2, Reminders: 1}
		want["only-a-reminder"] = actors.Listed[thing]{Ref: Thing.Ref("only-a-reminder"), Reminders: 1}
		hold := make(chan struct{})
		s.todo = append(s.todo, func(context.Context, self) error { <-hold; return nil })
		c.ok(s.run.Tell(s.ctx, Thing.Ref("only-a-request"), len(s.todo)-1))
		synctest.Wait()
		want["only-a-request"] = actors.Listed[thing]{Ref: Thing.Ref("only-a-request"), Requests: 1}
		seen := 0
		for one, err := range actors.List(s.ctx, Thing) {
			c.ok(err)
			if seen++; one != want[one.Ref.ID] {
				t.Errorf("got %+v, want %+v", one, want[one.Ref.ID])
			}
		}
		close(hold)
		if seen != len(want) {
			t.Errorf("%d of %d", seen, len(want))
		}
		for range actors.List(s.ctx, Thing) { // which may be left
			break
		}
	})
}

func TestAListEndsWithItsError(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		list := func(ctx context.Context) (err error) {
			n := 0
			for _, err = range actors.List(ctx, Thing) {
				n++
			}
			if n > 1 {
				t.Errorf("%d pairs", n)
			}
			return err
		}
		c.is(list(context.Background()), actors.ErrNoNode)
		ended, cancel := context.WithCancel(s.ctx)
		cancel()
		c.is(list(ended), actors.ErrUnanswered)
		c.ok(c.nodes[0].Stop(c.Context()))
		c.is(list(s.ctx), actors.ErrStopped)
	})
}

func TestAnActorIsDescribed(t *testing.T) {
	inBubble(t, func(c *cluster) {
		kept, entries := actors.NewValue[int](Thing, "kept", actors.Version(3, func(int, []byte) (int, error) { return 0, nil })), actors.NewMap[string, string](Thing, "entries")
		s := script(c)
		began := time.Now()
		c.ok(s.on("x", func(_ context.Context, self self) error {
			return errors.Join(kept.Set(self, 7), entries.Set(self, "b", "two"), entries.Set(self, "a", "one"),
				s.run.Remind(self, "once", actors.After(time.Hour), 0), s.run.Remind(self, "daily", actors.Cron("0 0 * * *", ""), 0))
		}))
		hold := make(chan struct{})
		s.todo = append(s.todo, func(context.Context, self) error { <-hold; return nil })
		for range 103 {
			c.ok(s.run.Tell(s.ctx, Thing.Ref("x"), len(s.todo)-1))
		}
		pass(time.Second)
		d, err := actors.Describe(s.ctx, Thing.Ref("x"))
		c.ok(err)
		want := []actors.StoredValue{{"entries/a", 1, []byte(`"one"`)}, {"entries/b", 1, []byte(`"two"`)}, {"kept", 3, []byte("7")}}
		if !slices.EqualFunc(d.Values, want, func(a, b actors.StoredValue) bool {
			return a.Name == b.Name && a.Version == b.Version && bytes.Equal(a.Raw, b.Raw)
		}) {
			t.Errorf("values %+v", d.Values)
		}
		if len(d.Requests) != 100 || d.More != 3 || !d.Requests[0].Running || d.Requests[1].Running || d.Requests[0].Method != "run" || d.Requests[0].Since < time.Second {
			t.Errorf("%d requests and %d more, the first %+v", len(d.Requests), d.More, d.Requests[0])
		}
		if len(d.Reminders) != 2 || d.Reminders[0].Name != "daily" || d.Reminders[0].Period != "cron UTC 0 0 * * *" || d.Reminders[1].Period != "" ||
			d.Reminders[1].Next.Before(began.Add(time.Hour)) || d.Reminders[1].Method != "run" {
			t.Errorf("reminders %+v", d.Reminders)
		}
		close(hold)
		d, err = actors.Describe(s.ctx, Thing.Ref("nobody"))
		if err != nil || len(d.Values)+len(d.Requests)+len(d.Reminders) > 0 {
			t.Errorf("%+v, %v", d, err)
		}
		_, err = actors.Describe(context.Background(), Thing.Ref("x"))
		c.is(err, actors.ErrNoNode)
	})
}

func TestAnActorThatIsTooLargeToDescribeSaysSo(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		large := actors.NewMap[int, []byte](Thing, "large")
		for i := range 4 {
			c.ok(s.on("x", func(_ context.Context, self self) error { return large.Set(self, i, make([]byte, 300<<10)) }))
		}
		_, err := actors.Describe(s.ctx, Thing.Ref("x"))
		c.is(err, actors.ErrTooLarge)
	})
}
