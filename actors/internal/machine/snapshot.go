package machine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// Format is the version of what [State.Core] writes.
const Format = 1

// ErrSnapshot matches errors about bytes that are no snapshot.
var ErrSnapshot = errors.New("machine: not a snapshot")

// Snapshot is the whole state, without what was saved of it elsewhere: the same
// bytes for the same log, whoever made it. [Restore] reads it.
func (s *State) Snapshot() []byte {
	return codec.Append(nil, &snapshot{core: s.Core(), changes: s.changes()})
}

// changes are all that lies over what was saved.
func (s *State) changes() []storedChange {
	var all []storedChange
	for _, actor := range sortedKeys(s.residents) {
		c := s.residents[actor]
		if l := c.fresh.over(c.taken); !l.empty() {
			all = append(all, storedChange{Change{Actor: actor, Clear: l.opaque, Cells: l.cells}})
		}
	}
	return all
}

// Restore is the state that a snapshot was made of.
func Restore(b []byte) (*State, error) {
	var halves snapshot
	if err := codec.Decode(b, &halves); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	s, err := RestoreCore(halves.core)
	if err != nil {
		return nil, err
	}
	for _, c := range halves.changes {
		if c.Clear || len(c.Cells) > 0 {
			s.write(c.Actor, s.resident(c.Actor), &record.Delta{Clear: c.Clear, Cells: c.Cells})
		}
	}
	return s, nil
}

// Core is all of the state but the cells: an owner starts with it alone.
func (s *State) Core() []byte {
	core := codec.Append(make([]byte, 0, s.coreSize+s.coreSize/8), s.core())
	s.coreSize = len(core)
	return core
}

// RestoreCore is a state that has no cells yet.
func RestoreCore(b []byte) (*State, error) {
	var c core
	if err := codec.Decode(b, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if c.format != Format {
		return nil, fmt.Errorf("%w: format %d, this program knows %d", ErrSnapshot, c.format, Format)
	}
	return c.state()
}

// core collects what the state has besides cells, in a fixed order.
func (s *State) core() *core {
	c := &core{
		format: Format, self: s.self, partitions: s.partitions, window: s.window, epoch: s.epoch, clock: s.clock,
	}
	for _, actor := range s.Actors() {
		for e := range s.Queue(actor) {
			c.entries = append(c.entries, storedEntry{e})
		}
	}
	for from, n := range s.in {
		c.in = append(c.in, storedIn{from, n})
	}
	slices.SortFunc(c.in, func(a, b storedIn) int { return comparePartitions(a.from, b.from) })
	for _, dest := range s.Dests() {
		c.out = append(c.out, storedOut{dest: dest, last: s.out[dest].last, waiting: s.out[dest].waiting})
	}
	c.roots = s.roots.stored()
	for _, actor := range sortedKeys(s.reminders) {
		for _, name := range sortedKeys(s.reminders[actor]) {
			c.reminders = append(c.reminders, storedReminder{actor, *s.reminders[actor][name]})
		}
	}
	for _, r := range s.delayed {
		c.delayed = append(c.delayed, record.Packed{Message: r})
	}
	slices.SortFunc(c.delayed, func(a, b record.Packed) int { return compareIDs(idOf(a.Message), idOf(b.Message)) })
	for from, next := range s.ingress {
		c.ingress = append(c.ingress, storedSource{from, next})
	}
	slices.SortFunc(c.ingress, compareSources)
	return c
}

// state is the state that c was collected from.
func (c *core) state() (*State, error) {
	s := New(c.self)
	s.partitions, s.window, s.epoch, s.clock = c.partitions, c.window, c.epoch, c.clock
	for _, e := range c.entries {
		if s.Lookup(e.ID) != nil {
			return nil, fmt.Errorf("%w: two entries of %v", ErrSnapshot, e.ID)
		}
		s.enter(e.Entry)
	}
	for _, x := range c.in {
		s.in[x.from] = x.number
	}
	for i := range c.out {
		s.out[c.out[i].dest] = &outbox{last: c.out[i].last, waiting: c.out[i].waiting}
	}
	for i := range c.roots {
		if err := s.roots.restore(&c.roots[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
	}
	for i := range c.reminders {
		x := &c.reminders[i]
		if s.reminders[x.actor] == nil {
			s.reminders[x.actor] = make(map[string]*Reminder)
		}
		s.reminders[x.actor][x.Name] = &x.Reminder
	}
	for _, x := range c.delayed {
		r, ok := x.Message.(*record.Request)
		if !ok {
			return nil, fmt.Errorf("%w: what waits for its time is no request", ErrSnapshot)
		}
		s.delayed[r.ID] = r
	}
	for _, x := range c.ingress {
		s.ingress[x.source] = x.next
	}
	return s, nil
}
