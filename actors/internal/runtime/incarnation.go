package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
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
	unread  []*flight // applied from their acknowledgement, not met by the reader yet
	// reopened: the reader was opened again and has read nothing since.
	reopened bool

	// The state. The loop alone changes it, under guard; attempts read cells
	// under it.
	guard sync.RWMutex
	state *machine.State
	epoch uint64
	nonce record.ID

	// What runs.
	work    map[record.ID]*Attempt
	slots   map[string]*slot
	view    machine.View
	suspect map[record.Link]struct{}
	ids     identities
	methods drain.Group
	crew    map[*worker]struct{}
	free    []*worker // of the crew, without work
	dropped *slot     // to be used again
	touched []string

	// What waits.
	agenda     agenda
	timer      *time.Timer
	alarm      time.Time // when timer fires; zero: it does not
	rang       bool      // it has fired, and nobody has looked yet
	senders    map[record.Dest]*sender
	congested  int // destinations above their limit
	stalled    map[string]struct{}
	firing     map[reminderKey]struct{}
	fired      map[reminderKey]record.ID
	held       map[record.ID]reminderKey
	refusing   map[string]int
	reasons    map[record.ID]string
	forwarding bool
	idle       idleList
	passing    int // Passivate hooks that run
	reading    int // shared methods that run
	snapshots  snapshots
	skipped    []skipped

	// Time, as of this turn.
	instant backstay.Instant
	local   time.Time // the same
	now     int64     // the log's, in milliseconds

	claim    ClaimTimes
	owned    time.Time // zero: not yet
	leaving  bool
	farewell bool // the last Forwarded are appended

	scope func(limit backstay.Instant) *lazyctx.Ctx
	ended error         // the loop ends
	gone  chan struct{} // closed: it has ended
}

func newIncarnation(o *owner) *incarnation {
	inc := &incarnation{
		owner: o, work: make(map[record.ID]*Attempt), slots: make(map[string]*slot),
		suspect: make(map[record.Link]struct{}), senders: make(map[record.Dest]*sender),
		stalled: make(map[string]struct{}), firing: make(map[reminderKey]struct{}),
		fired: make(map[reminderKey]record.ID), held: make(map[record.ID]reminderKey),
		refusing: make(map[string]int), reasons: make(map[record.ID]string), gone: make(chan struct{}),
		crew: make(map[*worker]struct{}),
	}
	inc.signal = make(chan struct{}, 1)
	inc.view = machine.View{Phase: inc.phaseOf, Suspect: inc.suspected, MaxAttempts: o.typ.MaxAttempts}
	inc.tick()
	return inc
}

// live claims the partition and owns it until that ends, and returns why. The
// contexts of its attempts end after it, not with ctx: what a method returns
// because its context ended must not be recorded as its result.
func (inc *incarnation) live(ctx context.Context) error {
	attempts, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	inc.scope = func(limit backstay.Instant) *lazyctx.Ctx { return lazyctx.New(attempts, limit) }
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
	if inc.timer != nil {
		inc.timer.Stop()
	}
	inc.snapshots.wait()
	inc.node.linger(inc)
	return err
}

// resign ends the incarnation after this event. Whatever it has under way is
// void by its epoch, or was effective before.
func (inc *incarnation) resign(why error) {
	if inc.ended == nil {
		inc.ended = why
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
	inc.now = inc.node.clock.at(inc.local)
	inc.view.Now = inc.now
}

// turns is the loop of an owner, until it ends.
func (inc *incarnation) turns() error {
	for inc.ended == nil {
		inc.turn()
		if inc.ended == nil && inc.lie() {
			inc.sleep()
		}
	}
	return inc.ended
}

// turn takes in what has come and does what follows. The reader is asked
// before the inbox: what it has was appended before, so the flight of each of
// its entries is known by then.
func (inc *incarnation) turn() {
	entries := inc.poll()
	events := inc.take()
	if len(entries) == 0 && len(events) == 0 && !inc.rang {
		return
	}
	inc.rang = false
	inc.tick()
	for _, e := range events {
		e.happen(inc)
	}
	inc.meet(entries)
	inc.applyAcknowledged()
	if inc.owned.IsZero() {
		return
	}
	inc.keep()
	inc.dispatch()
	inc.depart()
}

// sleep waits for the next event, or until something is due.
func (inc *incarnation) sleep() {
	at, ok := inc.nextDue()
	if !ok {
		<-inc.signal
		return
	}
	inc.set(at)
	select {
	case <-inc.signal:
	case <-inc.timer.C:
		inc.alarm, inc.rang = time.Time{}, true
		inc.rise()
	}
}

// set makes the timer fire at a time, or earlier: moving it costs more than a
// turn for nothing now and then.
func (inc *incarnation) set(at time.Time) {
	if !inc.alarm.IsZero() && !inc.alarm.After(at) {
		return
	}
	inc.alarm = at
	if inc.timer == nil {
		inc.timer = time.NewTimer(at.Sub(inc.local))
		return
	}
	inc.timer.Reset(at.Sub(inc.local))
}

// nextDue is when something is to be looked at, by the local clock.
func (inc *incarnation) nextDue() (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if first, some := inc.agenda.first(); some {
		sooner(inc.local.Add(time.Duration(first-inc.now) * time.Millisecond))
	}
	if len(inc.flights) > 0 {
		sooner(inc.flights[0].sent.Add(inc.node.config.Patience))
	}
	if s := inc.idle.oldest(); s != nil {
		sooner(s.since.Add(inc.typ.IdleAfter))
	}
	return at, ok
}

// ownedFor is how long the partition was owned.
func (inc *incarnation) ownedFor() time.Duration {
	if inc.owned.IsZero() {
		return 0
	}
	return time.Since(inc.owned)
}
