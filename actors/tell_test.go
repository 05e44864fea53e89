package actors_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

func TestATellRunsItsMethod(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		note, handler := does("note", func(_ context.Context, _ self, line string) (int, error) {
			d.write(line)
			return 7, nil
		})
		ctx := c.things(handler)
		c.ok(note.Tell(ctx, Thing.Ref("x"), "told"))
		synctest.Wait()
		if got := d.all(); !slices.Equal(got, []string{"told"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestATellOfAMethodIsSentWithItsStepOrNotAtAll(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		note := actors.Declare[string, none](Thing, "note")
		tell := actors.Declare[ending, none](Thing, "tell")
		ctx := c.things(
			actors.Handle(note, func(_ context.Context, self self, line string) (none, error) {
				d.write(self.ID() + " hears " + line)
				return none{}, nil
			}),
			actors.Handle(tell, func(ctx context.Context, _ self, how ending) (none, error) {
				if err := note.Tell(ctx, Thing.Ref("y"), string(how)); err != nil {
					return none{}, err
				}
				time.Sleep(time.Second)
				if how == "bad" {
					return none{}, errEmpty
				}
				return none{}, nil
			}),
		)
		_, err := tell.Call(ctx, Thing.Ref("x"), "bad")
		c.is(err, errEmpty)
		p := tell.Go(ctx, Thing.Ref("x"), "good")
		pass(500 * time.Millisecond)
		if got := d.all(); len(got) != 0 {
			t.Errorf("before the step: %q", got)
		}
		_, err = p.Await(ctx)
		c.ok(err)
		synctest.Wait()
		if got := d.all(); !slices.Equal(got, []string{"y hears good"}) {
			t.Errorf("got %q", got)
		}
	})
}

// ending says how a method ends.
type ending string

// Acceptance case A5.
func TestA5_AnErrorOfATellIsTold(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var runs int
		fail, handler := does("fail", func(context.Context, self, none) (none, error) { runs++; return none{}, errEmpty })
		plain, other := does("plain", func(context.Context, self, none) (none, error) { return none{}, errors.New("plainly wrong") })
		ctx := c.things(handler, other)
		c.ok(fail.Tell(ctx, Thing.Ref("x"), none{}))
		c.ok(plain.Tell(ctx, Thing.Ref("x"), none{}))
		pass(time.Hour)
		if runs != 1 {
			t.Errorf("it ran %d times: what it ended with is its result, and recorded as done", runs)
		}
		var told []backstay.Event
		for _, e := range c.heard.Events(backstay.StepDone) {
			if e.Outcome.Class == backstay.Permanent {
				told = append(told, e)
			}
		}
		if len(told) != 2 {
			t.Fatalf("told %+v", told)
		}
		if e := told[0]; e.Policy != "thing" || e.Operation != "fail" || e.Reason != "thing.empty" || e.Err == nil || e.Err.Error() != "the thing is empty" {
			t.Errorf("told %+v", e)
		}
		if e := told[1]; e.Operation != "plain" || e.Reason != "" || e.Err == nil || e.Err.Error() != "plainly wrong" {
			t.Errorf("told %+v", e)
		}
	})
}

func TestADelayedTellEntersLater(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		began := time.Now()
		note := actors.Declare[string, none](Thing, "note")
		relay := actors.Declare[none, none](Thing, "pass")
		ctx := c.things(
			actors.Handle(note, func(_ context.Context, _ self, line string) (none, error) {
				d.write(line + " after " + time.Since(began).Truncate(time.Second).String())
				return none{}, nil
			}),
			actors.Handle(relay, func(ctx context.Context, _ self, _ none) (none, error) {
				return none{}, note.Tell(ctx, Thing.Ref("x"), "inside", actors.Delay(20*time.Second))
			}),
		)
		c.ok(note.Tell(ctx, Thing.Ref("x"), "outside", actors.Delay(10*time.Second)))
		c.ok(relay.Tell(ctx, Thing.Ref("y"), none{}))
		c.ok(note.Tell(ctx, Thing.Ref("x"), "now"))
		pass(time.Minute)
		if got := d.all(); !slices.Equal(got, []string{"now after 0s", "outside after 10s", "inside after 20s"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestATellThatExpiresIsADeadLetter(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var ran bool
		busy, h := does("busy", func(context.Context, self, none) (none, error) { time.Sleep(10 * time.Second); return none{}, nil })
		late, g := does("late", func(context.Context, self, string) (none, error) { ran = true; return none{}, nil })
		ctx := c.things(h, g)
		c.ok(busy.Tell(ctx, Thing.Ref("x"), none{}))
		ctx = actors.WithBaggage(ctx, "tenant", "blue")
		c.ok(late.Tell(ctx, Thing.Ref("x"), "too late", actors.ExpireAfter(3*time.Second)))
		pass(time.Minute)
		letters := c.log.Messages(actors.DefaultDeadLetters)
		if ran || len(letters) != 1 {
			t.Fatalf("ran: %v, %d dead letters", ran, len(letters))
		}
		headers := make(map[string]string)
		for _, h := range letters[0].Headers {
			headers[h.Name] = string(h.Value)
		}
		if string(letters[0].Value) != `"too late"` || headers["backstay-actor"] != "thing/x" || headers["backstay-method"] != "late" ||
			headers["backstay-reason"] != "expired" || !strings.Contains(headers["backstay-baggage"], "blue") || headers["backstay-waited-ms"] != "3000" {
			t.Errorf("%s %v", letters[0].Value, headers)
		}
		if e := c.heard.Events(backstay.RequestGivenUp); len(e) != 1 || e[0].Reason != backstay.ReasonExpired {
			t.Errorf("told %+v", e)
		}
	})
}

func TestATellTakesNoDeadlineFromItsContext(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var ran bool
		busy, h := does("busy", func(context.Context, self, none) (none, error) { time.Sleep(10 * time.Second); return none{}, nil })
		later, g := does("later", func(context.Context, self, none) (none, error) { ran = true; return none{}, nil })
		ctx := c.things(h, g)
		c.ok(busy.Tell(ctx, Thing.Ref("x"), none{}))
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		c.ok(later.Tell(short, Thing.Ref("x"), none{}))
		pass(time.Minute)
		if !ran {
			t.Error("it expired with its sender's context")
		}
	})
}

func TestACallHasTheDeadlineOfItsContextOrItsOption(t *testing.T) {
	inBubble(t, func(c *cluster) {
		busy, h := does("busy", func(context.Context, self, none) (none, error) { time.Sleep(10 * time.Second); return none{}, nil })
		left, g := does("left", func(ctx context.Context, self self, _ none) (time.Duration, error) {
			at, _ := ctx.Deadline()
			if begin := self.Deadline(); !begin.IsZero() && begin.Sub(at).Abs() > 10*time.Millisecond {
				return 0, errors.New("it had to begin at another time than its context ends")
			}
			return time.Until(at).Round(100 * time.Millisecond), nil
		})
		ctx := c.things(h, g)
		d, err := left.Call(ctx, Thing.Ref("x"), none{})
		equal(c, d, err, actors.DefaultStepTimeout)
		d, err = left.Call(ctx, Thing.Ref("x"), none{}, actors.ExpireAfter(5*time.Second))
		equal(c, d, err, 5*time.Second)
		short, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		d, err = left.Call(short, Thing.Ref("x"), none{}, actors.ExpireAfter(5*time.Second))
		equal(c, d, err, 3*time.Second)
		c.ok(busy.Tell(ctx, Thing.Ref("x"), none{}))
		_, err = left.Call(ctx, Thing.Ref("x"), none{}, actors.ExpireAfter(5*time.Second))
		c.is(err, actors.ErrExpired)
		if _, err = left.Call(ctx, Thing.Ref("x"), none{}, actors.ExpireAfter(-1)); err == nil {
			t.Error("a negative ExpireAfter")
		}
		if err := busy.Tell(ctx, Thing.Ref("x"), none{}, actors.Delay(-1)); err == nil {
			t.Error("a negative Delay")
		}
	})
}
