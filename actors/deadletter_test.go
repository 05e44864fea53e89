package actors_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/retry"
)

// mourner keeps the dead letters that a node tells of.
type mourner struct {
	mu  sync.Mutex
	all []actors.DeadLetter
}

func (m *mourner) hear(_ context.Context, d actors.DeadLetter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, d)
}

func (m *mourner) letters() []actors.DeadLetter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]actors.DeadLetter(nil), m.all...)
}

func TestADeadLetterSaysWhatItWasAndWhy(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var m mourner
		runs := 0
		fail, handler := does("fail", func(context.Context, self, []int) (none, error) {
			if runs++; runs > 2 {
				return none{}, nil
			}
			time.Sleep(time.Second)
			return none{}, actors.Retry(errEmpty, 0)
		})
		ctx := c.on(c.open(actors.Config{OnDeadLetter: m.hear}, actors.Host(Thing, actors.Settings{Retry: retry.Config{MaxAttempts: 2}}, handler)))
		began := time.Now()
		ctx = actors.WithBaggage(ctx, "tenant", "blue")
		c.ok(fail.Tell(ctx, Thing.Ref("a/b"), []int{1, 2}, actors.IdempotencyKey("k")))
		pass(time.Minute)
		all := m.letters()
		if len(all) != 1 {
			t.Fatalf("%d letters", len(all))
		}
		d := all[0]
		if d.Reason != "poison" || d.Detail != "2 attempts, the last one: the thing is empty" || d.Type != "thing" || d.ID != "a/b" || d.Method != "fail" ||
			d.Attempts != 2 || d.Key == "" || len(d.RequestID) != 32 || string(d.Argument) != "[1,2]" || d.Baggage["tenant"] != "blue" ||
			!strings.HasPrefix(d.Source, "thing/") || d.Number != 1 || d.Queued.Sub(began).Abs() > time.Second || d.GivenUp.Sub(began) < 2*time.Second {
			t.Errorf("got %+v", d)
		}
		read, err := actors.ReadDeadLetter(c.log.Messages(actors.DefaultDeadLetters)[0])
		c.ok(err)
		if read.CopyKey() != d.CopyKey() || read.RequestID != d.RequestID {
			t.Errorf("the topic has %+v", read)
		}
		var in []int
		c.ok(actors.JSON{}.Decode(d.Argument, &in))
		for range 2 { // a copy of the letter changes nothing
			c.ok(fail.Tell(ctx, Thing.Ref(d.ID), in, actors.IdempotencyKey(d.CopyKey())))
		}
		pass(time.Minute)
		if runs != 3 {
			t.Errorf("%d runs", runs)
		}
	})
}

func TestAMessageThatIsNoDeadLetterIsAnError(t *testing.T) {
	for _, m := range []journal.Message{
		{}, {Topic: "news", Value: []byte("x")},
		{Headers: []journal.Header{{Name: "backstay-reason", Value: []byte("poison")}, {Name: "backstay-actor", Value: []byte("thing")}}},
		{Headers: []journal.Header{{Name: "backstay-reason", Value: []byte("undecodable")}}},
	} {
		if d, err := actors.ReadDeadLetter(m); err == nil {
			t.Errorf("%+v: %+v", m, d)
		}
	}
	d, err := actors.ReadDeadLetter(journal.Message{Value: []byte{1}, Headers: []journal.Header{
		{Name: "backstay-reason", Value: []byte(actors.ReasonUndecodable)}, {Name: "backstay-source", Value: []byte("thing/1")}, {Name: "backstay-offset", Value: []byte("7")},
	}})
	if err != nil || d.Number != 7 || d.Source != "thing/1" || len(d.Argument) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestAHookOfDeadLettersMayPanicAndIsWaitedFor(t *testing.T) {
	inBubble(t, func(c *cluster) {
		ended := false
		fail, handler := does("fail", func(context.Context, self, none) (none, error) { return none{}, actors.Retry(errEmpty, 0) })
		n := c.open(actors.Config{OnDeadLetter: func(ctx context.Context, _ actors.DeadLetter) {
			<-ctx.Done()
			ended = true
			panic("oh")
		}}, actors.Host(Thing, actors.Settings{Retry: retry.Config{MaxAttempts: 1}}, handler))
		_, err := fail.Call(c.on(n), Thing.Ref("x"), none{})
		c.is(err, actors.ErrPoison)
		pass(time.Second)
		c.ok(n.Stop(c.Context()))
		told := c.heard.Events(backstay.CallbackPanicked)
		if !ended || len(told) != 1 || told[0].Operation != "OnDeadLetter" || !strings.Contains(told[0].Err.Error(), "oh") {
			t.Errorf("ended %t, told %+v", ended, told)
		}
	})
}

func TestLettersThatAreNumberedInAnotherWayHaveKeysOfTheirOwn(t *testing.T) {
	keys := make(map[string]bool)
	for _, d := range []actors.DeadLetter{
		{Reason: "poison"}, {Reason: actors.ReasonUndecodable}, {Reason: "too_large", Dest: "other/1"}, {Reason: "too_large", Dest: "other/2"},
	} {
		d.Source, d.Number = "thing/3", 17
		keys[d.CopyKey()] = true
	}
	if len(keys) != 4 {
		t.Errorf("some are the same: %v", keys)
	}
}

// message is that of a letter.
func message(value string, headers ...string) journal.Message {
	m := journal.Message{Value: []byte(value)}
	for i := 0; i < len(headers); i += 2 {
		m.Headers = append(m.Headers, journal.Header{Name: headers[i], Value: []byte(headers[i+1])})
	}
	return m
}

func TestALetterSaysWhatItIsWithout(t *testing.T) {
	request := []string{"backstay-reason", "too_large", "backstay-actor", "thing/x", "backstay-method", "do", "backstay-source", "thing/3", "backstay-dest", "other/1", "backstay-number", "17"}
	others := []string{"backstay-left-out", "5", "backstay-reason", actors.ReasonNotIngested, "backstay-source", "thing/3", "backstay-number", "17"}
	for name, x := range map[string]struct {
		message journal.Message
		want    int
	}{
		"a tell":                              {message("", append(request, "backstay-left-out", "700")...), 700},
		"a tell that is whole":                {message("in", request...), 0},
		"a message":                           {message("", append(others, "backstay-left-out", "700")...), 700},
		"a message that is a letter, and was": {message("in", others...), 0},
	} {
		if d, err := actors.ReadDeadLetter(x.message); err != nil || d.LeftOut != x.want {
			t.Errorf("%s is without %d bytes, %v", name, d.LeftOut, err)
		}
	}
}

func TestALetterWithoutItsArgumentIsNotRequeued(t *testing.T) {
	inBubble(t, func(c *cluster) {
		runs := 0
		_, handler := does("do", func(context.Context, self, none) (none, error) { runs++; return none{}, nil })
		n := c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, handler))
		d := actors.DeadLetter{Reason: "too_large", Type: "thing", ID: "x", Method: "do", Source: "thing/3", Dest: "thing/1", Number: 17, LeftOut: 700}
		err := n.Requeue(c.Context(), d)
		const want = "actors: the dead letter thing/3:thing/1#17 of thing/x.do is without the argument: 700 bytes were left out, with which the brokers refused it as too large; tell the method anew, with what its caller knows"
		if err == nil || err.Error() != want || backstay.Classify(err).Class != backstay.Permanent {
			t.Errorf("got %v", err)
		}
		if pass(time.Minute); runs > 0 {
			t.Errorf("it ran %d times", runs)
		}
	})
}
