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

func TestLettersOfTheOutboxAndOfTheLogHaveKeysOfTheirOwn(t *testing.T) {
	poison := actors.DeadLetter{Source: "thing/3", Number: 17, Reason: "poison"}
	broken := actors.DeadLetter{Source: "thing/3", Number: 17, Reason: actors.ReasonUndecodable}
	if poison.CopyKey() == broken.CopyKey() {
		t.Errorf("both are %q", poison.CopyKey())
	}
}
