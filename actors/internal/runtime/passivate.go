package runtime

import "github.com/backstay-go/backstay/internal/lazyctx"

// idleList has the slots without work, the longest idle first: all have the
// same IdleAfter, so no heap is needed.
type idleList struct {
	head, tail *slot
	bytes      int64
}

func (l *idleList) oldest() *slot { return l.head }

func (l *idleList) add(s *slot) {
	s.prev, s.next = l.tail, nil
	if l.tail == nil {
		l.head = s
	} else {
		l.tail.next = s
	}
	l.tail = s
	l.bytes += int64(s.size)
}

func (l *idleList) has(s *slot) bool { return s.prev != nil || l.head == s }

// remove takes a slot out, if it is in.
func (l *idleList) remove(s *slot) {
	if !l.has(s) {
		return
	}
	if s.prev == nil {
		l.head = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.tail = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
	l.bytes -= int64(s.size)
}

// slotBytes is about what a slot takes beside the cells.
const slotBytes = 512

// rest decides what becomes of a slot without attempts: it waits to be used
// again for a while, then it is dropped, so that a million actors over time
// need no memory (A10).
func (inc *incarnation) rest(s *slot) {
	if len(s.attempts) > 0 || s.passing || inc.slots[s.actor] != s {
		return
	}
	if s.doomed {
		inc.idle.remove(s)
		if inc.passivate(s); s.passing {
			return
		}
	}
	switch {
	case !s.active.Load() && !s.attached:
		inc.forget(s)
	case !inc.idle.has(s):
		s.since, s.size = inc.local, slotBytes+inc.state.Attached(s.actor)
		inc.idle.add(s)
	}
}

// passivateIdle drops the actors that were idle for long, and more if they take
// too much memory.
func (inc *incarnation) passivateIdle() {
	for s := inc.idle.oldest(); s != nil; s = inc.idle.oldest() {
		late := inc.typ.IdleAfter >= 0 && inc.local.Sub(s.since) >= inc.typ.IdleAfter
		if !late && inc.idle.bytes <= inc.node.config.IdleBytes {
			return
		}
		inc.idle.remove(s)
		s.going = true
		inc.passivate(s)
	}
}

// passivateAll drops all instances, since the partition is handed over.
func (inc *incarnation) passivateAll() {
	for _, s := range inc.slots {
		if s.active.Load() && !s.passing && len(s.attempts) == 0 {
			inc.idle.remove(s)
			s.going = true
			inc.passivate(s)
		}
	}
}

// passivate tells the hook on a goroutine of its own; until it has returned
// nothing begins on the actor, so that nothing runs on an instance that is
// half closed (A10).
func (inc *incarnation) passivate(s *slot) {
	if inc.typ.Passivate == nil || !s.active.Load() {
		inc.passivated(s)
		return
	}
	s.passing = true
	inc.passing++
	ctx := inc.scope(new(lazyctx.Ctx), inc.within(inc.typ.StepTimeout))
	inc.methods.Add()
	go func() {
		defer func() {
			if v := recover(); v != nil {
				_ = inc.hookPanicked(s.actor, "Passivate", v)
			}
			ctx.Cancel()
			inc.post(passed{s})
			inc.methods.Done()
		}()
		inc.typ.Passivate(ctx, s.actor, s.instance)
	}()
}

// passed: the hook has returned.
type passed struct{ *slot }

func (p passed) happen(inc *incarnation) {
	inc.passing--
	p.passing = false
	inc.passivated(p.slot)
	inc.touch(p.actor)
}

// passivated takes the instance from a slot, and lets it go if it is not needed.
func (inc *incarnation) passivated(s *slot) {
	s.instance, s.doomed = nil, false
	s.active.Store(false)
	if s.going {
		inc.forget(s)
	}
}

// forget drops an actor. Nothing is lost: what its cells were is saved, or in
// what the log has changed since.
func (inc *incarnation) forget(s *slot) {
	delete(inc.slots, s.actor)
	if s.attached {
		inc.guarded(func() { inc.state.Detach(s.actor) })
	}
	inc.dropped = s
}

// hookPanicked tells that a hook or a shared method panicked.
func (inc *incarnation) hookPanicked(actor, what string, v any) error {
	err := newPanicError(v)
	inc.node.report(Event{Kind: HookPanicked, Partition: inc.self, Epoch: inc.epoch, Actor: actor, Method: what, Err: err})
	return err
}
