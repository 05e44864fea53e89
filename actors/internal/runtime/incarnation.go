package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/internal/cellar"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/internal/drain"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// incarnation is one claim of a partition, and what follows from it. Nothing
// in it is shared with an older one (H17). Only its loop touches what has no
// lock of its own.
type incarnation struct {
	*owner
	inbox

	// The log.
	reader  journal.Reader
	next    int64 // offset of the next record to apply
	flights []*flight
	// acknowledged: one of them may be the next to be applied.
	acknowledged bool
	unread       []echo // applied from their acknowledgement, not met by the reader yet
	// reopened: the reader was opened again and has read nothing since.
	reopened bool

	// The state. The loop alone changes it, under guard; attempts read cells
	// under it.
	guard sync.RWMutex
	state *machine.State
	// decoder makes the records that are applied.
	decoder record.Decoder
	epoch   uint64
	nonce   record.ID

	// What is kept elsewhere.
	cellar cellar.Cellar
	loads  loads
	beside sync.WaitGroup // goroutines that load and save
	// listing has room for the one who lists what is saved. It is no mutex: who
	// waits for one keeps virtual time from going on.
	listing chan struct{}

	// What runs.
	work     map[record.ID]*Attempt
	recorded []*Attempt // whose begins are applied, and which do not run yet
	slots    map[string]*slot
	view     machine.View
	suspect  map[record.Link]struct{}
	ids      identities
	methods  drain.Group
	crew     map[*worker]struct{}
	idlers   []*worker // of the crew, without work
	driver   *worker   // runs this turn; nil: none does
	handout  handout
	touched  []string

	// To be used again.
	dropped    *slot
	workspaces []*workspace

	// What waits.
	agenda     agenda
	timer      *time.Timer
	alarm      time.Time // when timer fires; zero: it does not
	senders    map[record.Dest]*sender
	congested  int // destinations above their limit
	stalled    map[string]struct{}
	firing     map[reminderKey]struct{}
	fired      map[reminderKey]record.ID
	held       map[record.ID]reminderKey
	refusing   map[string]int
	reasons    map[record.ID]*Retry
	forwarding bool
	idle       idleList
	passing    int                    // Passivate hooks that run
	reading    int                    // shared methods that run
	asked      map[record.ID]struct{} // reads that are being answered, or wait for cells
	snapshots  snapshots
	skipped    []skipped
	ingests    ingests
	missed     missed

	// Time, as of this turn.
	instant backstay.Instant
	local   time.Time        // the same
	now     int64            // the log's, in milliseconds, about
	applied backstay.Instant // when the last record was

	claim    inspect.Takeover
	owned    time.Time // zero: not yet
	doubt    doubt
	leaving  bool
	farewell bool // the last Forwarded are appended

	scope func(c *lazyctx.Ctx, limit backstay.Instant) *lazyctx.Ctx // makes c end with the incarnation
	ended error                                                     // the loop ends
	// fallen is whether it has, for workers: what was given to one just before
	// does not begin any more.
	fallen atomic.Bool
	gone   chan struct{} // closed: it has ended
}

func newIncarnation(o *owner) *incarnation {
	inc := &incarnation{
		owner: o, work: make(map[record.ID]*Attempt), slots: make(map[string]*slot),
		suspect: make(map[record.Link]struct{}), senders: make(map[record.Dest]*sender),
		stalled: make(map[string]struct{}), firing: make(map[reminderKey]struct{}),
		fired: make(map[reminderKey]record.ID), held: make(map[record.ID]reminderKey),
		refusing: make(map[string]int), reasons: make(map[record.ID]*Retry), gone: make(chan struct{}),
		crew: make(map[*worker]struct{}), loads: loads{under: make(map[string]*load)}, listing: make(chan struct{}, 1), asked: make(map[record.ID]struct{}),
	}
	inc.signal = make(chan struct{}, 1)
	inc.timer = time.NewTimer(time.Hour)
	inc.timer.Stop()
	inc.view = machine.View{Phase: inc.phaseOf, Suspect: inc.suspected, MaxAttempts: o.typ.MaxAttempts}
	inc.tick()
	inc.doubt.pauses = o.node.pauses(inc.instant)
	return inc
}

// live claims the partition and owns it until that ends, and returns why. The
// contexts of its attempts end after it, not with ctx: what a method returns
// because its context ended must not be recorded as its result.
func (inc *incarnation) live(ctx context.Context) error {
	attempts, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	inc.scope = func(c *lazyctx.Ctx, limit backstay.Instant) *lazyctx.Ctx {
		c.Begin(attempts, limit)
		return c
	}
	stop := context.AfterFunc(ctx, func() { inc.post(endEvent{}) })
	err := inc.acquire(ctx)
	if err == nil {
		err = inc.turns()
	}
	stop()
	inc.close()
	close(inc.gone)
	inc.disband()
	cancel(ErrLost) // of all that it has under way
	if inc.reader != nil {
		inc.reader.Close()
	}
	inc.timer.Stop()
	inc.beside.Wait()
	inc.node.linger(inc)
	return err
}

// resign ends the incarnation after this event. Whatever it has under way is
// void by its epoch, or was effective before.
func (inc *incarnation) resign(why error) {
	if inc.ended == nil {
		inc.ended = why
		inc.fallen.Store(true)
	}
}

// endEvent: the node wants no partition any more.
type endEvent struct{}

func (endEvent) happen(inc *incarnation) { inc.resign(ErrStopped) }

// drainEvent: begin nothing more that nobody who runs waits for.
type drainEvent struct{}

func (drainEvent) happen(inc *incarnation) { inc.leaving = true }

// tick takes the time of this turn.
func (inc *incarnation) tick() {
	inc.instant = backstay.Now()
	inc.local = inc.instant.Time()
	before := inc.now
	inc.now = inc.node.clock.at(inc.instant)
	inc.view.Now = inc.now
	if back := before - inc.now; back > setBack {
		inc.agenda.renew(back)
	}
}

// setBack is by how many milliseconds the log's clock, as this process knows it,
// goes back at least for waits to be counted anew: else they would take so much
// longer.
const setBack = 1000

// rounds is how often a turn goes on at once with what has come meanwhile.
const rounds = 4

// turn takes in what has come and does what follows.
func (inc *incarnation) turn() {
	inc.act()
	inc.handOut()
}

func (inc *incarnation) act() {
	events, rang := inc.take()
	if rang {
		inc.alarm = time.Time{}
	}
	inc.tick()
	for _, e := range events {
		e.happen(inc)
	}
	clear(events) // the room is used again, and must not hold what was in it
	inc.read()
	inc.applyAcknowledged()
	if inc.owned.IsZero() {
		return
	}
	if inc.keep(); inc.doubtful() {
		return
	}
	inc.takeIn()
	inc.dispatch()
	for i := 0; i < rounds && inc.ended == nil && (inc.acknowledged || inc.readable.Load()); i++ {
		inc.read() // what was appended meanwhile
		inc.applyAcknowledged()
		inc.takeIn()
		inc.dispatch()
	}
	inc.depart()
}

// ownedFor is how long the partition was owned.
func (inc *incarnation) ownedFor() time.Duration {
	if inc.owned.IsZero() {
		return 0
	}
	return time.Since(inc.owned)
}
