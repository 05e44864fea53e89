package actors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

func TestHowTheErrorsOfCallsAreTreatedByThoseWhoDoNotKnowActors(t *testing.T) {
	call := func(err error) error { return &actors.CallError{Actor: "thing/a", Method: "do", Err: err} }
	cut := func(err error) error { return call(fmt.Errorf("%w: %w", actors.ErrUnanswered, err)) }
	for _, row := range []struct {
		name string
		err  error
		want backstay.Class
		late bool // it matches context.DeadlineExceeded
	}{
		{"an expired request was refused, because it was too late", call(actors.ErrExpired), backstay.Rejected, true},
		{"a full mailbox is a refusal", call(actors.ErrMailboxFull), backstay.Rejected, false},
		{"a deadlock is a refusal", call(actors.ErrDeadlock), backstay.Rejected, false},
		{"a cancelled request is its caller's doing", call(actors.ErrCancelled), backstay.Canceled, false},
		{"what was given up is a fault that another attempt does not mend", call(actors.ErrPoison), backstay.Fault, false},
		{"an unknown method is the caller's mistake", call(actors.ErrNoMethod), backstay.Permanent, false},
		{"so is an argument that is too large", call(fmt.Errorf("%w: 9 MiB", actors.ErrTooLarge)), backstay.Permanent, false},
		{"a wait that the deadline cut short may be mended", cut(context.DeadlineExceeded), backstay.Transient, true},
		{"a wait that was cancelled is its caller's doing", cut(context.Canceled), backstay.Canceled, false},
		{"a node that was stopped may be another one next time", call(actors.ErrStopped), backstay.Transient, false},
		{"what a method says is an answer", &actors.Error{Message: "no"}, backstay.Permanent, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			wrapped := fmt.Errorf("placing the order: %w", row.err)
			if got := backstay.Classify(wrapped).Class; got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
			if got := errors.Is(wrapped, context.DeadlineExceeded); got != row.late {
				t.Errorf("matches context.DeadlineExceeded: %t", got)
			}
		})
	}
}

// A layer that retries must not repeat what only the program can mend.
func TestAMistakeOfTheProgramIsPermanent(t *testing.T) {
	inBubble(t, func(c *cluster) {
		value, stray := actors.NewValue[int](Thing, "value"), actors.NewType[none]("stray")
		do, handler := does("do", func(context.Context, self, none) (none, error) { return none{}, nil })
		lost := actors.Declare[none, none](stray, "lost")
		odd := actors.Declare[func(), none](Thing, "odd")
		token := actors.Token[string]("thing/8e03978e-40d5-83dd-bc93-6894a57f9324")
		var kept self
		keep, keeper := does("keep", func(_ context.Context, self self, _ none) (none, error) { kept = self; return none{}, nil })
		n, err := actors.Open(c.Context(), actors.Config{}, without{c.log, "stray"}, actors.Host(Thing, actors.Settings{}, handler, keeper))
		c.ok(err)
		c.nodes = append(c.nodes, n)
		ctx := c.on(n)
		_, err = keep.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		for name, call := range map[string]func() error{
			"a context without a node":      func() error { return do.Tell(context.Background(), Thing.Ref("x"), none{}) },
			"a token without a node":        func() error { return token.Complete(context.Background(), "yes") },
			"an empty Ref":                  func() error { return do.Tell(ctx, actors.Ref[thing]{}, none{}) },
			"an empty id":                   func() error { return do.Tell(ctx, Thing.Ref(""), none{}) },
			"the id of a deferred reply":    func() error { return do.Tell(ctx, Thing.Ref("deferred."+string(token[len("thing/"):])), none{}) },
			"an argument without a form":    func() error { return odd.Tell(ctx, Thing.Ref("x"), func() {}) },
			"a negative time":               func() error { return do.Tell(ctx, Thing.Ref("x"), none{}, actors.Delay(-time.Second)) },
			"an empty key":                  func() error { return do.Tell(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey("")) },
			"the result of an empty key":    func() error { _, err := do.Result(ctx, Thing.Ref("x"), ""); return err },
			"a garbage token":               func() error { return actors.Token[string]("garbage").Complete(ctx, "yes") },
			"a reply that fails of nothing": func() error { return token.Fail(ctx, nil) },
			"a type without a log":          func() error { return lost.Tell(ctx, stray.Ref("x"), none{}) },
			"a token of such a type":        func() error { return ("stray" + token[len("thing"):]).Complete(ctx, "yes") },
			"a letter of no request":        func() error { return n.Requeue(ctx, actors.DeadLetter{}) },
			"an invocation that is over":    func() error { return value.Set(kept, 1) },
			"a message without a topic":     func() error { return kept.Publish(actors.Message{}) },
			"a reminder without a name":     func() error { return do.Forget(kept, "") },
		} {
			err := call()
			if got := backstay.Classify(fmt.Errorf("placing the order: %w", err)).Class; got != backstay.Permanent {
				t.Errorf("%s is %v: %v", name, got, err)
			}
		}
	})
}
