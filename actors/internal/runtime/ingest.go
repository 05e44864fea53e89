package runtime

import (
	"fmt"
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// An owner takes messages of ordinary topics in. Partition s of a topic is that
// of the owner of partition s mod N of the type, and how far it has come is a
// part of that partition's state: a record moves the position from exactly where
// it is (R47, R48), and makes the tells. So it does not matter who reads the
// messages, nor whether two do.

// Ingest is an ordinary topic that the owners of a type take in.
type Ingest struct {
	Topic string
	// Map returns what a message is told to whom; nil leaves the message out. An
	// error, a panic, or runtime.Goexit makes a dead letter of it. Of the target
	// only Type and Actor need be set. It is called for one message of a partition
	// of the topic at a time, for a message more than once, and must not block.
	Map func(s journal.Source, m *journal.Sourced) (*record.Call, error)
	// FromEnd begins at the end of the topic, not at its beginning.
	FromEnd bool
}

// Bounds of what is ingested at a time.
const (
	ingestMost    = 256       // messages of a record
	ingestBytes   = 256 << 10 // of their arguments, unless one alone has more
	ingestBacklog = 1000      // requests that came so, and have not begun to leave
)

// ingests are the intakes of an incarnation, as its loop knows them.
type ingests struct {
	offers []*offer               // that wait
	live   map[record.ID]struct{} // requests of this partition that came so
}

// ingest begins to take the type's topics in.
func (inc *incarnation) ingest() {
	for i := range inc.typ.Ingests {
		inc.beside.Go(func() { inc.explore(&inc.typ.Ingests[i]) })
	}
}

// Waits between two looks at how many partitions a topic has.
const (
	exploreAgain  = time.Minute
	exploreFailed = time.Second
)

// explore begins to take in the partitions of a topic that are this owner's,
// also those that are added later.
func (inc *incarnation) explore(g *Ingest) {
	ctx := inc.scope(new(lazyctx.Ctx), inc.within(-1))
	defer ctx.Cancel()
	var intakes sync.WaitGroup
	defer intakes.Wait()
	each := inc.node.counted(inc.partition.Type)
	for next, again := inc.partition.Index, time.Duration(0); inc.sleep(again); {
		count, err := inc.node.sources.SourceCount(ctx, g.Topic)
		if again = exploreAgain; err != nil {
			again = exploreFailed
			inc.astray(g.Topic, fmt.Errorf("runtime: looking at topic %q: %w", g.Topic, err), again)
		}
		for ; err == nil && next < count; next += each {
			k := newIntake(inc, g, next)
			intakes.Go(func() { k.run(ctx) })
		}
	}
}

// sleep waits, and reports false if the incarnation has ended.
func (inc *incarnation) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-inc.gone:
		return false
	case <-t.C:
		return true
	}
}

// astray tells of what hinders an intake, and is tried again.
func (inc *incarnation) astray(name string, err error, again time.Duration) {
	inc.node.report(Event{Kind: AppendFailed, Partition: inc.self, Epoch: inc.epoch, Name: name, Err: err, Wait: again})
}

// offer is the next record of an intake, which waits until it is settled. One
// that moves nothing asks for the position.
type offer struct {
	*intake
	record *record.Ingest
}

func (o *offer) happen(inc *incarnation) {
	if o.record.To == 0 {
		o.settle()
		return
	}
	inc.ingests.offers = append(inc.ingests.offers, o)
}

// settle tells the intake where to go on.
func (o *offer) settle() { o.settled <- o.inc.state.Ingested(o.source.Topic, o.source.Partition) }

// backlog bounds the requests that have come so and are not done with: half of
// what a mailbox takes, so that none is refused for those beside it.
func (inc *incarnation) backlog() int {
	if inc.typ.Mailbox < 0 {
		return ingestBacklog
	}
	return max(1, min(ingestBacklog, inc.typ.Mailbox/2))
}

// takeIn puts offers on record, while there is room for what they bring.
func (inc *incarnation) takeIn() {
	g := &inc.ingests
	for len(g.offers) > 0 && inc.congested == 0 && !inc.leaving && inc.ended == nil {
		o := g.offers[0]
		if used := len(g.live) + inc.outgoing(); used > 0 && used+len(o.record.Messages) > inc.backlog() {
			return
		}
		g.offers = g.offers[1:]
		inc.tryIngest(o)
	}
}

// outgoing counts the outputs that other partitions have not got yet.
func (inc *incarnation) outgoing() (n int) {
	for dest, s := range inc.senders {
		if dest.Topic == "" {
			n += len(s.waiting)
		}
	}
	return n
}

// tryIngest appends an offer. A void one is no fault of this incarnation: it
// goes on from where the position is.
func (inc *incarnation) tryIngest(o *offer) {
	inc.try(o.record, func(v machine.Void) {
		if v == machine.Effective {
			inc.ingested(o.record)
		}
		o.settle()
	})
}

// ingested notes the requests of a record that are this partition's own.
func (inc *incarnation) ingested(r *record.Ingest) {
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Dead != nil || m.Call.Target.Partition() != inc.self {
			continue
		}
		id := record.IngestID(r.Topic, r.TopicPartition, m.Offset)
		if inc.state.Lookup(id) == nil {
			continue // it waits for its time
		}
		if inc.ingests.live == nil {
			inc.ingests.live = make(map[record.ID]struct{})
		}
		inc.ingests.live[id] = struct{}{}
	}
}

// ingestible says what is wrong with what a type takes in. Two functions for one
// topic would share its position.
func (t *Type) ingestible(from journal.Sources) error {
	seen := make(map[string]bool)
	for i := range t.Ingests {
		g := &t.Ingests[i]
		switch {
		case from == nil:
			return fmt.Errorf("runtime: type %q ingests topic %q, and this log has no topics to read", t.Name, g.Topic)
		case g.Topic == "" || g.Map == nil:
			return fmt.Errorf("runtime: type %q ingests without a topic or a function", t.Name)
		case seen[g.Topic]:
			return fmt.Errorf("runtime: type %q ingests topic %q twice", t.Name, g.Topic)
		}
		seen[g.Topic] = true
	}
	return nil
}
