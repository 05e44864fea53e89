package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/cellar"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// loads are the actors whose cells are under way from where they were saved.
type loads struct {
	under   map[string]*load
	queue   []string
	running int
	failing int // actors whose last load has failed
}

// load is an actor that somebody waits for: requests, in its mailbox, or reads.
type load struct {
	tries int
	reads []record.Read
}

// What bounds loads.
const (
	loadsAtOnce = 16 // of a partition
	loadFor     = 10 * time.Second
	loadAgain   = 50 * time.Millisecond // after the first failure, and doubled
	loadAgainAt = 10 * time.Second      // most
)

// atHand is the slot of an actor whose cells are in memory. It has them loaded if
// they are not, and is nil until then: nothing of the actor begins. The end of the
// load touches it again.
func (inc *incarnation) atHand(actor string) *slot {
	if s := inc.slots[actor]; s != nil && s.attached {
		return s
	}
	if inc.loads.under[actor] != nil {
		return nil
	}
	if inc.state.Complete(actor) {
		return inc.attach(actor, nil)
	}
	row, known := inc.cellar.Known(actor)
	if known && row.At <= inc.next {
		return inc.attach(actor, row.Cells)
	}
	inc.fetch(actor)
	return nil
}

// attach puts the cells of an actor into memory, where they stay until it is
// passivated.
func (inc *incarnation) attach(actor string, cells []record.Cell) *slot {
	s := inc.slots[actor]
	if s == nil {
		s = inc.newSlot(actor)
		inc.touch(actor) // it may be idle
	}
	s.attached = true
	inc.guarded(func() { inc.state.Attach(actor, cells) })
	return s
}

// fetch begins to load an actor, or queues it.
func (inc *incarnation) fetch(actor string) {
	inc.loads.under[actor] = new(load)
	inc.guarded(func() { inc.state.Expect(actor) })
	inc.enqueueLoad(actor)
}

func (inc *incarnation) enqueueLoad(actor string) {
	l := &inc.loads
	l.queue = append(l.queue, actor)
	inc.startLoads()
}

// startLoads loads what is queued, as many at once as may be.
func (inc *incarnation) startLoads() {
	l := &inc.loads
	for ; l.running < loadsAtOnce && len(l.queue) > 0 && inc.ended == nil; l.queue = l.queue[1:] {
		actor := l.queue[0]
		l.running++
		inc.beside.Go(func() {
			ctx := inc.scope(new(lazyctx.Ctx), backstay.Now().Add(loadFor))
			defer ctx.Cancel()
			row, err := inc.cellar.Load(ctx, actor)
			inc.post(&loaded{actor, row, err})
		})
	}
}

// loaded: the cells of an actor have come, or not.
type loaded struct {
	actor string
	row   cellar.Row
	err   error
}

// errAhead: the cells are as of an offset that this owner has not reached. It is
// not the owner any more, and will learn of that.
var errAhead = errors.New("runtime: the cells of an actor are those of a newer owner")

func (d *loaded) happen(inc *incarnation) {
	l := &inc.loads
	l.running--
	if d.err == nil && d.row.At > inc.next {
		d.err = errAhead
	}
	if d.err != nil {
		inc.loadFailed(d.actor, d.err)
		inc.startLoads()
		return
	}
	inc.relieve(l.under[d.actor])
	reads := l.under[d.actor].reads
	delete(l.under, d.actor)
	inc.attach(d.actor, d.row.Cells)
	for i := range reads {
		delete(inc.asked, reads[i].ID)
		inc.share(&reads[i])
	}
	inc.touch(d.actor)
	inc.startLoads()
}

// loadFailed has the load tried again, for as long as it takes: what is stored
// cannot be done without. Requests that wait may expire meanwhile; reads are
// dropped, since who has sent them asks again.
func (inc *incarnation) loadFailed(actor string, err error) {
	l := inc.loads.under[actor]
	wait := min(loadAgain<<min(l.tries, 10), loadAgainAt)
	if l.tries++; l.tries == 1 {
		inc.loads.failing++
	}
	for i := range l.reads {
		delete(inc.asked, l.reads[i].ID)
	}
	l.reads = nil
	err = fmt.Errorf("runtime: loading the cells of %s/%s: %w", inc.self.Type, brief(actor), err)
	inc.hinder(err)
	inc.agenda.add(appointment{at: inc.now + wait.Milliseconds(), what: dueLoad, subject: subject{actor: actor}})
	inc.node.report(Event{Kind: LoadFailed, Partition: inc.self, Epoch: inc.epoch, Actor: actor, Wait: wait, Err: err})
}

// relieve takes a load that has succeeded off those that fail.
func (inc *incarnation) relieve(l *load) {
	if l.tries == 0 {
		return
	}
	if inc.loads.failing--; inc.loads.failing == 0 {
		inc.hinder(nil)
	}
}

func (inc *incarnation) loadAgain(actor string) {
	if inc.loads.under[actor] != nil {
		inc.enqueueLoad(actor)
	}
}

// wait has a read wait for the cells of its actor, and reports whether it must.
func (inc *incarnation) waitToRead(r *record.Read) bool {
	if inc.atHand(r.Target.Actor) != nil {
		return false
	}
	l := inc.loads.under[r.Target.Actor]
	l.reads = append(l.reads, *r)
	inc.asked[r.ID] = struct{}{}
	return true
}
