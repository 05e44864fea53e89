package machine

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// Format is the version of what [State.Core] writes.
const Format = 1

// ErrSnapshot matches errors about bytes that are no snapshot.
var ErrSnapshot = errors.New("machine: not a snapshot")

// Snapshot is the whole state: the same bytes for the same log, whoever made
// it. [Restore] reads it.
func (s *State) Snapshot() []byte {
	return codec.Append(nil, &snapshot{core: s.Core(), cells: s.Chunk(0, 1)})
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
	return s, s.Load(halves.cells)
}

// Core is all of the state but the cells. An owner can start with it alone.
func (s *State) Core() []byte { return codec.Append(nil, s.core()) }

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

// ChunkOf is the chunk, of n, that has the cells of an actor. [Effects.Changed]
// says which chunks must be written anew.
func ChunkOf(actor string, n uint32) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(actor))
	return h.Sum32() % n
}

// Chunk is the cells of the actors of the k-th chunk of n.
func (s *State) Chunk(k, n uint32) []byte {
	var c chunk
	var actors []string
	for actor := range s.cells {
		if ChunkOf(actor, n) == k {
			actors = append(actors, actor)
		}
	}
	slices.Sort(actors)
	for _, actor := range actors {
		for name, value := range s.Cells(actor) {
			c.cells = append(c.cells, storedCell{actor: actor, name: name, value: value})
		}
	}
	return codec.Append(nil, &c)
}

// Load adds the cells of a chunk.
func (s *State) Load(b []byte) error {
	var c chunk
	if err := codec.Decode(b, &c); err != nil {
		return fmt.Errorf("%w: cells: %w", ErrSnapshot, err)
	}
	for _, cell := range c.cells {
		s.write(cell.actor, &record.Cell{Name: cell.name, Value: cell.value})
	}
	return nil
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
	for id, r := range s.roots {
		c.roots = append(c.roots, storedRoot{id, *r})
	}
	slices.SortFunc(c.roots, func(a, b storedRoot) int { return compareIDs(a.id, b.id) })
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
		if s.entries[e.ID] != nil {
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
	for _, x := range c.roots {
		r := x.root
		if s.roots[x.id] = &r; r.done {
			s.ends.push(expiry{at: r.until, id: x.id})
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
