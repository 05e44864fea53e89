package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/internal/wire"
)

// Incoming is a message of an ordinary topic that is taken in. It must not be
// changed. Of headers with the same name it has the last.
type Incoming struct {
	Message
	// Partition and Offset are where it is.
	Partition uint32
	Offset    int64
	// Time is when it was appended, by the topic's clock.
	Time time.Time
}

// Telling is a tell that is not sent: what [Hosting.Ingest] makes of a message.
// Make it with [Method.Telling]. The zero Telling is none.
type Telling struct{ outgoing *outgoing }

// Telling is the tell as a value. An idempotency key is not for it: its key is
// the message.
func (m Method[In, Out, A]) Telling(ref Ref[A], in In, options ...TellOption) Telling {
	o := m.outgoing(ref, in, tellSending(options))
	return Telling{&o}
}

// IngestOption changes how a topic is taken in.
type IngestOption func(*ingest)

// FromEnd begins at the end of the topic as the first owner finds it, not at its
// beginning. It decides once for every partition of the topic, one that is added
// later included.
func FromEnd() IngestOption { return func(g *ingest) { g.fromEnd = true } }

type ingest struct {
	topic   string
	tell    func(m Incoming) (Telling, error)
	fromEnd bool
}

// Ingest returns the hosting with an ordinary topic whose messages become tells,
// each exactly once: how far a topic has been taken in is a part of the state
// of the type's partitions, and moves with the record that makes the tells. The
// log must have topics that can be read, as those of packages kafka and memory
// do.
//
//	actors.Host(Order, actors.Settings{}, handlers...).Ingest("orders", func(m actors.Incoming) (actors.Telling, error) {
//		var in Purchase
//		if err := json.Unmarshal(m.Value, &in); err != nil {
//			return actors.Telling{}, err
//		}
//		return Place.Telling(Order.Ref(m.Key), in), nil
//	})
//
// tell says who is told what; the zero Telling leaves a message out. An error,
// a panic, or runtime.Goexit makes a dead letter of the message
// ([ReasonNotIngested]). tell runs on goroutines of the node, for a message more
// than once where owners change; so it must follow from the message alone, not
// block, and leave all work to the method. To tell several actors, tell one that
// does.
//
// Messages of one partition of the topic are told in their order. Partition s is
// taken in by the owner of the type's partition s mod N: a topic with as many
// partitions as the type, whose keys are the actors' ids, costs no way between
// partitions. While an actor's mailbox or the way to other partitions is full,
// the topic waits. Of what waits in mailboxes of other partitions it knows
// nothing: what is too much there is refused, and is a dead letter.
//
// The trace of a message goes on in its tell. The name of a topic stands for
// its messages for ever: one that is made anew needs another name.
func (h Hosting) Ingest(topic string, tell func(m Incoming) (Telling, error), options ...IngestOption) Hosting {
	g := ingest{topic: topic, tell: tell}
	for _, o := range options {
		o(&g)
	}
	h.ingests = append(slices.Clip(h.ingests), g)
	return h
}

// fault is why it cannot be hosted, nil for none.
func (g *ingest) fault(actorType string) error {
	switch {
	case g.topic == "":
		return fmt.Errorf("actors: type %q ingests a topic without a name", actorType)
	case g.tell == nil:
		return fmt.Errorf("actors: type %q ingests topic %q without a function", actorType, g.topic)
	default:
		return nil
	}
}

// ingest turns it into what the runtime takes.
func (n *Node) ingest(g ingest) runtime.Ingest {
	return runtime.Ingest{Topic: g.topic, FromEnd: g.fromEnd, Map: func(s journal.Source, m *journal.Sourced) (*record.Call, error) {
		t, err := g.tell(incoming(s, m))
		if err != nil || t.outgoing == nil {
			return nil, err
		}
		return n.telling(t.outgoing, m)
	}}
}

func incoming(s journal.Source, m *journal.Sourced) Incoming {
	in := Incoming{
		Message:   Message{Topic: s.Topic, Key: m.Key, Value: m.Value},
		Partition: s.Partition, Offset: m.Offset, Time: time.UnixMilli(m.At),
	}
	if len(m.Headers) > 0 {
		in.Headers = make(map[string]string, len(m.Headers))
	}
	for _, h := range m.Headers {
		in.Headers[h.Name] = string(h.Value)
	}
	return in
}

// telling encodes a tell, with the trace that its message came with.
func (n *Node) telling(o *outgoing, m *journal.Sourced) (*record.Call, error) {
	if o.keyed {
		return nil, errors.New("actors: IdempotencyKey is not for what is ingested: its key is the message")
	}
	args, err := n.encode(o)
	if err != nil {
		return nil, err
	}
	c := &record.Call{Target: o.target(), Method: o.method, Args: args}
	c.Deadline, c.TTL = bound(context.Background(), o.expireAfter)
	if o.delay > 0 {
		c.NotBefore = n.runtime.Now() + milliseconds(o.delay)
	}
	trace := make(Baggage)
	for _, h := range m.Headers {
		if h.Name == wire.MessageTraceParent || h.Name == wire.MessageTraceState {
			trace[h.Name] = string(h.Value)
		}
	}
	if len(trace) > 0 {
		c.Baggage, err = json.Marshal(trace)
	}
	return c, err
}
