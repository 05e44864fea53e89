package runtime

import "runtime/debug"

// idleList has the slots with an instance and without work, the longest idle
// first: all have the same IdleAfter, so no heap is needed.
type idleList struct{ head, tail *slot }

func (l *idleList) oldest() *slot { return l.head }

func (l *idleList) add(s *slot) {
	s.prev, s.next = l.tail, nil
	if l.tail == nil {
		l.head = s
	} else {
		l.tail.next = s
	}
	l.tail = s
}

// remove takes a slot out, if it is in.
func (l *idleList) remove(s *slot) {
	if s.prev == nil && l.head != s {
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
}

// rest decides what becomes of a slot without attempts: one with an instance
// waits to be used again, one without is dropped, so that a million actors
// over time need no memory (A10).
func (inc *incarnation) rest(s *slot) {
	if len(s.attempts) > 0 || s.passing || inc.slots[s.actor] != s {
		return
	}
	switch {
	case !s.active:
		delete(inc.slots, s.actor)
		inc.dropped = s
	case s.doomed:
		inc.idle.remove(s)
		inc.passivate(s)
	case s.prev == nil && inc.idle.head != s:
		s.since = inc.local
		if inc.typ.IdleAfter >= 0 {
			inc.idle.add(s)
		}
	}
}

// passivateIdle drops the instances that were idle for long.
func (inc *incarnation) passivateIdle() {
	for s := inc.idle.oldest(); s != nil && inc.local.Sub(s.since) >= inc.typ.IdleAfter; s = inc.idle.oldest() {
		inc.idle.remove(s)
		inc.passivate(s)
	}
}

// passivateAll drops all instances, since the partition is handed over.
func (inc *incarnation) passivateAll() {
	for _, s := range inc.slots {
		if s.active && !s.passing && len(s.attempts) == 0 {
			inc.idle.remove(s)
			inc.passivate(s)
		}
	}
}

// passivate tells the hook on a goroutine of its own; until it has returned
// nothing begins on the actor, so that nothing runs on an instance that is
// half closed (A10).
func (inc *incarnation) passivate(s *slot) {
	if inc.typ.Passivate == nil {
		delete(inc.slots, s.actor)
		return
	}
	s.passing = true
	inc.passing++
	ctx := inc.scope(inc.within(inc.typ.StepTimeout))
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
	delete(inc.slots, p.actor)
	inc.touch(p.actor)
}

// hookPanicked tells that a hook or a shared method panicked.
func (inc *incarnation) hookPanicked(actor, what string, v any) error {
	err := &PanicError{Value: v, Stack: debug.Stack()}
	inc.node.report(Event{Kind: HookPanicked, Partition: inc.self, Epoch: inc.epoch, Actor: actor, Method: what, Err: err})
	return err
}
