package actors_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
)

// hauler is a thing whose method "haul" runs until its context ends.
type hauler struct {
	diary
	haul actors.Method[string, string, thing]
	done actors.Value[string, thing]
}

func newHauler() *hauler {
	return &hauler{haul: actors.Declare[string, string](Thing, "haul"), done: actors.NewValue[string](Thing, "done")}
}

func (h *hauler) handler() actors.Handler[thing] {
	return actors.Handle(h.haul, func(ctx context.Context, self self, what string) (string, error) {
		select {
		case <-ctx.Done():
			h.write(what + " stopped")
		case <-time.After(20 * time.Second):
			h.write(what + " arrived")
		}
		if err := h.done.Set(self, what); err != nil || what != "fails" {
			return what, err
		}
		return what, ctx.Err()
	})
}

// cancelledAfter is ctx until it is cancelled, which no deadline foretells.
func cancelledAfter(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(d, cancel)
	return ctx, cancel
}

// Acceptance case A70.
func TestA70_ACallersEndEndsWhatRunsAndItsOutcomeIsRecordedOnce(t *testing.T) {
	h := newHauler()
	inBubble(t, func(c *cluster) {
		outer, calling := does("outer", func(ctx context.Context, _ self, what string) (string, error) {
			var options []actors.CallOption
			if !strings.HasPrefix(what, "plain") {
				options = append(options, actors.Cancellable())
			}
			short, cancel := cancelledAfter(ctx, time.Second)
			defer cancel()
			_, err := h.haul.Call(short, Thing.Ref("callee of "+what), what, options...)
			if !errors.Is(err, actors.ErrUnanswered) && what == "plain" { // others may see the outcome
				t.Errorf("%s: %v", what, err)
			}
			return what, nil
		})
		read, reading := does("read", func(ctx context.Context, self self, _ none) (string, error) { return h.done.Get(ctx, self) })
		ctx := c.things(h.handler(), calling, reading)
		for _, what := range []string{"nested", "fails", "plain"} {
			began := time.Now()
			_, err := outer.Call(ctx, Thing.Ref("x"), what) // which ends when what it called has ended
			c.ok(err)
			if took := time.Since(began); (took < 3*time.Second) != (what != "plain") {
				t.Errorf("%s: %v", what, took)
			}
		}
		short, cancel := cancelledAfter(ctx, time.Second)
		_, err := h.haul.Call(short, Thing.Ref("y"), "root", actors.Cancellable())
		cancel()
		c.is(err, actors.ErrUnanswered)
		pass(time.Second)
		if got := strings.Join(h.all(), ", "); got != "nested stopped, fails stopped, plain arrived, root stopped" {
			t.Errorf("got %q", got)
		}
		for id, want := range map[string]string{"callee of nested": "nested", "callee of fails": "", "callee of plain": "plain", "y": "root"} {
			v, err := read.Call(ctx, Thing.Ref(id), none{})
			equal(c, v, err, want)
		}
	})
}

func TestACancellableCallThatHasNotBegunIsDropped(t *testing.T) {
	h := newHauler()
	inBubble(t, func(c *cluster) {
		ctx := c.things(h.handler())
		first := h.haul.Go(ctx, Thing.Ref("x"), "first")
		synctest.Wait()
		short, cancel := cancelledAfter(ctx, time.Second)
		defer cancel()
		_, err := h.haul.Call(short, Thing.Ref("x"), "second", actors.Cancellable())
		c.is(err, actors.ErrUnanswered)
		_, err = first.Await(ctx)
		c.ok(err)
		pass(time.Minute)
		if got := strings.Join(h.all(), ", "); got != "first arrived" {
			t.Errorf("got %q", got)
		}
	})
}

func TestACallWithAKeyCannotBeCancellable(t *testing.T) {
	h := newHauler()
	inBubble(t, func(c *cluster) {
		ctx := c.things(h.handler())
		_, err := h.haul.Call(ctx, Thing.Ref("x"), "", actors.IdempotencyKey("k"), actors.Cancellable())
		if err == nil || !strings.Contains(err.Error(), "cannot be Cancellable") {
			t.Error(err)
		}
	})
}
