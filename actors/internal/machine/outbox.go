package machine

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Output is a message to forward, at least once and in order, until its
// Forwarded is applied.
type Output struct {
	Dest    record.Dest
	Number  uint64
	Message record.Message
}

// outbox has what goes to one destination.
type outbox struct {
	last    uint64 // number of the last output ever: numbers never restart (R15)
	waiting []Output
}

// put hands on a message. To the own partition it is accepted at once, without
// a number: it is in the log already, within the record that makes it.
func (c *change) put(dest record.Dest, m record.Message) {
	if dest == (record.Dest{Partition: c.self}) {
		c.accept(m)
		return
	}
	box := c.out[dest]
	if box == nil {
		box = new(outbox)
		dest.Partition.Type = strings.Clone(dest.Partition.Type) // it stays, what it came in goes
		c.out[dest] = box
	}
	box.last++
	output := Output{Dest: dest, Number: box.last, Message: m}
	box.waiting = append(box.waiting, output)
	c.effects.Outputs = append(c.effects.Outputs, output)
}

// forwarded drops what was acknowledged. A copy finds nothing to drop.
func (c *change) forwarded(r *record.Forwarded) Void {
	box := c.out[r.Dest]
	if box == nil {
		return VoidNothing
	}
	n, _ := slices.BinarySearchFunc(box.waiting, r.Number+1, byNumber)
	if n == 0 {
		return VoidNothing
	}
	box.waiting = slices.Delete(box.waiting, 0, n)
	return Effective
}

// undeliverable gives an output up: its number stays, so that those behind it
// arrive (R4), and whoever waits for its request, or its result, gets the failure
// (H20).
func (c *change) undeliverable(r *record.Undeliverable) Void {
	box := c.out[r.Dest]
	if box == nil {
		return VoidNothing
	}
	i, found := slices.BinarySearchFunc(box.waiting, r.Number, byNumber)
	if !found {
		return VoidNothing
	}
	lost := box.waiting[i].Message
	left := instead(lost, r)
	if left == nil {
		return VoidNothing
	}
	box.waiting[i].Message = left
	c.effects.Outputs = append(c.effects.Outputs, box.waiting[i])
	if _, told := left.(*record.Response); told {
		return Effective
	}
	request, ok := lost.(*record.Request)
	if !ok || request.Return.Kind == record.ReturnNone {
		c.alarm(Alarm{Reason: AlarmLost, ID: idOf(lost), Message: lost})
		return Effective
	}
	c.respond(request, &record.Result{Failure: &r.Failure})
	return Effective
}

// instead is what takes the place of an output that is given up, nil for a copy: it
// finds what the first has left.
func instead(lost record.Message, r *record.Undeliverable) record.Message {
	switch m := lost.(type) {
	case *record.Empty:
		return nil
	case *record.Response:
		if !r.Instead {
			break
		}
		if f := m.Result.Failure; f != nil && f.Code == r.Failure.Code && f.Message == r.Failure.Message {
			return nil
		}
		return &record.Response{Child: m.Child, Parent: m.Parent, Reply: m.Reply, Result: record.Result{Failure: &r.Failure}, Kept: m.Kept}
	}
	return new(record.Empty)
}

func byNumber(o Output, n uint64) int { return cmp.Compare(o.Number, n) }

func idOf(m record.Message) record.ID {
	switch m := m.(type) {
	case *record.Request:
		return m.ID
	case *record.Response:
		return m.Child
	default:
		return record.ID{}
	}
}

// Outputs goes through what is to be forwarded, by destination and number.
func (s *State) Outputs() iter.Seq[Output] {
	return func(yield func(Output) bool) {
		for _, dest := range s.Dests() {
			for _, o := range s.out[dest].waiting {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Waiting are the outputs to one destination, by number. They must not be
// changed, and are good until the next Apply.
func (s *State) Waiting(dest record.Dest) []Output {
	if box := s.out[dest]; box != nil {
		return box.waiting
	}
	return nil
}

// Produced is the number of the last output ever made for a destination.
func (s *State) Produced(dest record.Dest) uint64 {
	if box := s.out[dest]; box != nil {
		return box.last
	}
	return 0
}

// Dests are the destinations that outputs were ever made for, in order.
func (s *State) Dests() []record.Dest {
	dests := make([]record.Dest, 0, len(s.out))
	for dest := range s.out {
		dests = append(dests, dest)
	}
	slices.SortFunc(dests, func(a, b record.Dest) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), comparePartitions(a.Partition, b.Partition))
	})
	return dests
}

func comparePartitions(a, b record.Partition) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Index, b.Index))
}
