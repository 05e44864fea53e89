package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/retry"
)

// purchase is what the topic "orders" has.
type purchase struct {
	Item  string
	Count int
}

// readPurchase is what the documentation shows.
func readPurchase(place actors.Method[purchase, none, thing], options ...actors.TellOption) func(actors.Incoming) (actors.Telling, error) {
	return func(m actors.Incoming) (actors.Telling, error) {
		if len(m.Value) == 0 {
			return actors.Telling{}, nil
		}
		var in purchase
		if err := json.Unmarshal(m.Value, &in); err != nil {
			return actors.Telling{}, err
		}
		return place.Telling(Thing.Ref(m.Key), in, options...), nil
	}
}

func (c *cluster) publish(m journal.Message) {
	c.log.Publish(m, func(_ journal.Place, err error) { c.ok(err) })
}

func TestMessagesOfATopicAreTold(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		place, handler := does("place", func(ctx context.Context, s self, in purchase) (none, error) {
			d.write(s.ID() + " " + in.Item + " " + actors.BaggageFrom(ctx)["traceparent"])
			return none{}, nil
		})
		var seen actors.Incoming
		read := readPurchase(place)
		began := time.Now()
		c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, handler).Ingest("orders", func(m actors.Incoming) (actors.Telling, error) {
			seen = m
			return read(m)
		}))
		c.publish(journal.Message{Topic: "orders", Key: "a", Value: []byte(`{"Item":"book"}`)})
		c.publish(journal.Message{Topic: "orders", Key: "a"})
		c.publish(journal.Message{
			Topic: "orders", Key: "b", Value: []byte(`{"Item":"pen"}`),
			Headers: []journal.Header{{Name: "h", Value: []byte("1")}, {Name: "h", Value: []byte("2")}, {Name: "traceparent", Value: []byte("00-x")}},
		})
		pass(time.Second)
		if got := slices.Sorted(slices.Values(d.all())); !slices.Equal(got, []string{"a book ", "b pen 00-x"}) {
			t.Errorf("told %q", got)
		}
		if seen.Topic != "orders" || seen.Key != "b" || seen.Headers["h"] != "2" || seen.Offset != 2 || seen.Partition != 0 || seen.Time.Sub(began) > time.Minute {
			t.Errorf("seen %+v", seen)
		}
	})
}

func TestTheOptionsOfATellCountForWhatIsIngested(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		place, handler := does("place", func(_ context.Context, _ self, in purchase) (none, error) {
			d.write(in.Item)
			return none{}, nil
		})
		c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, handler).
			Ingest("later", readPurchase(place, actors.Delay(time.Hour)), actors.FromEnd()).
			Ingest("keyed", readPurchase(place, actors.IdempotencyKey("k"))))
		pass(time.Second)
		for _, topic := range []string{"later", "keyed"} {
			c.publish(journal.Message{Topic: topic, Key: "a", Value: []byte(`{"Item":"` + topic + `"}`)})
		}
		pass(time.Minute)
		if len(d.all()) != 0 {
			t.Errorf("before its time: %v", d.all())
		}
		pass(time.Hour)
		if got := strings.Join(d.all(), ","); got != "later" {
			t.Errorf("told %q", got)
		}
		letters := c.log.Messages(actors.DefaultDeadLetters)
		if len(letters) != 1 {
			t.Fatalf("%d dead letters", len(letters))
		}
		l, err := actors.ReadDeadLetter(letters[0])
		c.ok(err)
		if l.Reason != actors.ReasonNotIngested || l.Origin != "keyed/0/0" || !strings.Contains(l.Detail, "its key is the message") || string(l.Argument) != `{"Item":"keyed"}` || l.GivenUp.IsZero() {
			t.Errorf("%+v", l)
		}
	})
}

func TestHostingsThatIngestNothingAreRefused(t *testing.T) {
	inBubble(t, func(c *cluster) {
		place, handler := does("place", func(context.Context, self, purchase) (none, error) { return none{}, nil })
		host := actors.Host(Thing, actors.Settings{}, handler)
		for what, h := range map[string]actors.Hosting{
			"no topic": host.Ingest("", readPurchase(place)), "no function": host.Ingest("orders", nil),
			"twice": host.Ingest("orders", readPurchase(place)).Ingest("orders", readPurchase(place)),
		} {
			if n, err := actors.Open(c.Context(), actors.Config{}, c.log, h); err == nil {
				c.nodes = append(c.nodes, n)
				t.Errorf("%s is taken", what)
			}
		}
	})
}

func TestALetterIsRequeuedOnceWithItsBaggage(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		broken := true
		fail, handler := does("fail", func(ctx context.Context, _ self, in string) (none, error) {
			if broken {
				return none{}, errors.Join(actors.Retry(errEmpty, 0))
			}
			d.write(in + " " + actors.BaggageFrom(ctx)["tenant"])
			return none{}, nil
		})
		n := c.open(actors.Config{}, actors.Host(Thing, actors.Settings{Retry: retry.Config{MaxAttempts: 1}}, handler))
		ctx, cancel := context.WithTimeout(actors.WithBaggage(c.on(n), "tenant", "blue"), time.Second)
		defer cancel()
		_, err := fail.Call(ctx, Thing.Ref("x"), "work")
		c.is(err, actors.ErrPoison)
		pass(time.Minute)
		l, err := actors.ReadDeadLetter(c.log.Messages(actors.DefaultDeadLetters)[0])
		c.ok(err)
		broken = false
		for i := range 2 {
			known, err := n.Requeued(c.Context(), l)
			equal(c, known, err, i > 0)
			c.ok(n.Requeue(c.Context(), l))
		}
		pass(time.Minute)
		known, err := n.Requeued(c.Context(), l)
		equal(c, known, err, true)
		_, err = n.Requeued(c.Context(), actors.DeadLetter{})
		if err == nil {
			t.Error("what is no letter was requeued")
		}
		if got := strings.Join(d.all(), ","); got != "work blue" {
			t.Errorf("done %q", got)
		}
		for _, l := range []actors.DeadLetter{{}, {Reason: actors.ReasonNotIngested, Source: "thing/1", Number: 2}} {
			if err := n.Requeue(c.Context(), l); err == nil {
				t.Errorf("%+v is requeued", l)
			}
		}
	})
}

func TestCopiesOfAPublishedMessageHaveItsID(t *testing.T) {
	inBubble(t, func(c *cluster) {
		tries := 0
		say, handler := does("say", func(_ context.Context, s self, _ none) (none, error) {
			for _, m := range []actors.Message{{Topic: "news", Value: []byte("1")}, {Topic: "news", Value: []byte("2")}, {Topic: "news", Headers: map[string]string{"backstay-id": "mine"}}} {
				if err := s.Publish(m); err != nil {
					return none{}, err
				}
			}
			if tries++; tries == 1 {
				return none{}, actors.Retry(errEmpty, 0)
			}
			return none{}, nil
		})
		ctx := c.things(handler)
		c.ok(say.Tell(ctx, Thing.Ref("x"), none{}))
		pass(time.Minute)
		ids := make(map[string]bool)
		for i, m := range c.log.Messages("news") {
			h := make(map[string]string)
			for _, x := range m.Headers {
				h[x.Name] = string(x.Value)
			}
			if len(h) != 3 || !strings.HasPrefix(h["backstay-source"], "thing/") || h["backstay-number"] != string(rune('1'+i)) {
				t.Errorf("headers %v", h)
			}
			ids[h["backstay-id"]] = true
		}
		if len(ids) != 3 || !ids["mine"] {
			t.Errorf("ids %v", ids)
		}
	})
}
