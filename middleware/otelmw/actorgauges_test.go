package otelmw_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/middleware/otelmw"
)

// depths is a node that says what it is told to.
type depths []inspect.Depth

func (d depths) Depths(context.Context) []inspect.Depth { return d }

// stuck is a node that does not answer.
type stuck struct{}

func (stuck) Depths(ctx context.Context) []inspect.Depth { <-ctx.Done(); return nil }

type panicking struct{}

func (panicking) Depths(context.Context) []inspect.Depth { panic("on purpose") }

func TestGaugesTellWhatWaitsInPartitions(t *testing.T) {
	l := newLab(t)
	stop := l.WatchActors(depths{
		{Type: "order", Index: 0, Requests: 3, Oldest: 1500 * time.Millisecond, Outputs: 2},
		{Type: "order", Index: 1},
	}, depths{{Type: "stock", Index: 7, Requests: 1, Oldest: time.Second}})
	labels := func(typ string, index int) string {
		return fmt.Sprintf("backstay.actor.type=%s,backstay.key=%s/%d,backstay.policy=%s", typ, typ, index, typ)
	}
	l.want("backstay.actor.mailbox.depth", map[string]float64{labels("order", 0): 3, labels("order", 1): 0, labels("stock", 7): 1})
	l.want("backstay.actor.mailbox.age", map[string]float64{labels("order", 0): 1.5, labels("order", 1): 0, labels("stock", 7): 1})
	l.want("backstay.actor.outbox.depth", map[string]float64{labels("order", 0): 2, labels("order", 1): 0, labels("stock", 7): 0})
	for name, unit := range map[string]string{"mailbox.depth": "{request}", "mailbox.age": "s", "outbox.depth": "{message}"} {
		if m := l.metric("backstay.actor." + name); m == nil || m.Unit != unit {
			t.Errorf("%s: %+v", name, m)
		}
	}
	stop()
	l.want("backstay.actor.mailbox.depth", nil)
}

// A gauge has the name that the events of its partition have.
func TestTheGaugesOfAPartitionHaveTheNameOfItsEvents(t *testing.T) {
	l := newLab(t, otelmw.WithMaxNames(1))
	l.Observe(t.Context(), backstay.Event{Kind: backstay.PartitionOwned, Policy: "order", Key: "order/2"})
	l.WatchActors(depths{
		{Type: "order", Index: 1, Requests: 1, Oldest: time.Second, Outputs: 1},
		{Type: "order", Index: 2, Requests: 10},
		{Type: "order", Index: 3, Requests: 2, Oldest: 3 * time.Second, Outputs: 1},
	})
	const own, other = "backstay.actor.type=order,backstay.key=order/2,backstay.policy=order", "backstay.actor.type=order,backstay.key=other,backstay.policy=order"
	l.want("backstay.actor.mailbox.depth", map[string]float64{own: 10, other: 3})
	l.want("backstay.actor.mailbox.age", map[string]float64{own: 0, other: 3})
	l.want("backstay.actor.outbox.depth", map[string]float64{own: 0, other: 2})
}

func TestANodeThatDoesNotAnswerHoldsNobodyUpForLong(t *testing.T) {
	l := newLab(t)
	l.WatchActors(depths{{Type: "order", Requests: 1}}, panicking{}, stuck{})
	start := time.Now()
	if got := l.values("backstay.actor.mailbox.depth"); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
