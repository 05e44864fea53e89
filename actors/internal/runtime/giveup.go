package runtime

import (
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// expiredAtOnce is how many expired requests share a record.
const expiredAtOnce = 1000

// late reports whether a request is to be expired: its deadline has passed and
// it never began (A63). It may be anywhere in its queue.
func (inc *incarnation) late(id record.ID) (record.Link, bool) {
	e := inc.state.Lookup(id)
	if e == nil {
		return record.Link{}, false
	}
	d, _ := inc.view.Decide(e)
	return e.Link, d == machine.Expire
}

// expire ends many requests with few records.
func (inc *incarnation) expire(links []record.Link) {
	for some := range slices.Chunk(links, expiredAtOnce) {
		inc.expireAtOnce(some)
	}
}

// expireAtOnce ends requests with one record.
func (inc *incarnation) expireAtOnce(links []record.Link) {
	for _, l := range links {
		inc.work[l.ID] = resolving // it must not begin meanwhile (H8)
	}
	inc.try(&record.Expired{Epoch: inc.epoch, Links: links, Dead: inc.node.config.DeadTopic}, func(machine.Void) {
		for _, l := range links {
			if inc.work[l.ID] != resolving {
				continue
			}
			delete(inc.work, l.ID)
			if e := inc.state.Lookup(l.ID); e != nil {
				inc.touch(e.Target.Actor)
			}
		}
	})
}

// giveUp ends one request that no attempt runs.
func (inc *incarnation) giveUp(e *machine.Entry, o record.Outcome, f *record.Failure) {
	id := e.ID
	inc.work[id] = resolving
	inc.append(&record.Step{
		Epoch: inc.epoch, Link: e.Link, Outcome: o, Result: record.Result{Failure: f}, Dead: inc.node.config.DeadTopic,
	}, func(machine.Void) {
		if inc.work[id] == resolving {
			delete(inc.work, id)
		}
	})
}

// poison ends what has failed as often as it may (R37). Of a chain of tail calls
// who waits knows the first link only, and is told which one failed.
func (inc *incarnation) poison(e *machine.Entry) {
	f := &record.Failure{Code: CodePoison, Message: fmt.Sprintf("%d attempts", e.Tries)}
	if e.Seq > 0 {
		f.Message += fmt.Sprintf(" of %s/%s.%s", e.Target.Type, brief(e.Target.Actor), e.Method)
	}
	if last := inc.reasons[e.ID]; last != nil {
		f.Message += ", the last one: " + last.Reason
		f.Detail = []byte(last.Code)
	}
	inc.giveUp(e, record.Poison, f)
}

// drop ends a request whose caller is gone (A69).
func (inc *incarnation) drop(e *machine.Entry) {
	if d, _ := inc.view.Decide(e); d == machine.Drop {
		inc.giveUp(e, record.Cancelled, nil)
	}
}

// full reports whether a request that has come in is too much for its actor.
// One that belongs to what keeps the actor is let in, and so are one that has
// begun, which cannot be refused, and one that opens a latch.
func (inc *incarnation) full(e *machine.Entry) bool {
	limit := inc.typ.Mailbox
	if limit < 0 || e.Begun || inc.leaving {
		return false
	}
	actor := e.Target.Actor
	if inc.state.Depth(actor)-inc.refusing[actor] <= limit || inc.typ.Methods[e.Method].Bare {
		return false
	}
	for oldest := range inc.state.Queue(actor) {
		return !slices.Contains(e.Ancestors, oldest.ID)
	}
	return true
}

// refuse ends the newest request of a full mailbox (A74).
func (inc *incarnation) refuse(e *machine.Entry) {
	actor, id := e.Target.Actor, e.ID
	inc.refusing[actor]++
	inc.work[id] = resolving
	inc.append(&record.Step{
		Epoch: inc.epoch, Link: e.Link, Outcome: record.Refused, Dead: inc.node.config.DeadTopic,
	}, func(machine.Void) {
		if inc.work[id] == resolving {
			delete(inc.work, id)
		}
		if inc.refusing[actor]--; inc.refusing[actor] == 0 {
			delete(inc.refusing, actor)
		}
	})
}
