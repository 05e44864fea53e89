package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Listed is an actor of a list.
type Listed[A any] struct {
	Ref Ref[A]
	// Values are the stored values and entries of maps.
	Values int
	// Requests wait or run.
	Requests int
	// Reminders are set.
	Reminders int
}

// List goes through the actors of a type that have values, requests or
// reminders: partition by partition, and within one in the order of their ids.
// It is read in pages of up to 1,000. Each actor is told of as it was at some
// moment after the loop had begun; what comes to be meanwhile may be missed. No
// method runs and nothing is activated. The error, if any, comes with the last
// pair.
//
// It is for people and for repairs: each page costs its owner a look at all the
// actors of the partition.
func List[A any](ctx context.Context, t Type[A]) iter.Seq2[Listed[A], error] {
	return func(yield func(Listed[A], error) bool) {
		n, err := nodeFrom(ctx)
		var partitions uint32
		if err == nil {
			partitions, err = n.runtime.Count(ctx, t.name)
		}
		if err != nil {
			yield(Listed[A]{}, n.explained(&callee{actor: t.name, method: "List"}, err))
			return
		}
		for p := range partitions {
			if !list(ctx, n, t, p, yield) {
				return
			}
		}
	}
}

// list goes through a partition.
func list[A any](ctx context.Context, n *Node, t Type[A], partition uint32, yield func(Listed[A], error) bool) (more bool) {
	for after := ""; ; {
		page, err := n.runtime.List(ctx, record.Partition{Type: t.name, Index: partition}, after)
		if err != nil {
			yield(Listed[A]{}, n.explained(&callee{actor: t.name, method: "List"}, err))
			return false
		}
		if len(page) == 0 {
			return true
		}
		for _, a := range page {
			l := Listed[A]{Ref: t.Ref(a.Actor), Values: a.Cells, Requests: a.Requests, Reminders: a.Reminders}
			if !isPlace(a.Actor) && !yield(l, nil) {
				return false
			}
		}
		after = page[len(page)-1].Actor
	}
}

// Description is what the log has of an actor, for people.
type Description struct {
	// Values are the stored values, and the entries of maps ("map/key"), in the
	// order of their names.
	Values []StoredValue `json:"values"`
	// Requests wait or run, the oldest first; at most 100, and More others.
	Requests []QueuedRequest `json:"requests"`
	More     int             `json:"more,omitempty"`
	// Reminders are set, in the order of their names.
	Reminders []SetReminder `json:"reminders"`
}

// StoredValue is one value of an actor.
type StoredValue struct {
	Name string `json:"name"`
	// Version is that of its form; Raw is what the codec wrote.
	Version int    `json:"version"`
	Raw     []byte `json:"raw"`
}

// QueuedRequest is a request that waits or runs.
type QueuedRequest struct {
	RequestID string `json:"request_id"`
	Method    string `json:"method"`
	// Link is the number of the link of its chain, from 0.
	Link int `json:"link"`
	// Attempts of the link are on record.
	Attempts int `json:"attempts"`
	// Since is for how long it has waited or run.
	Since   time.Duration `json:"since_ns"`
	Running bool          `json:"running"`
}

// SetReminder is a reminder that is set.
type SetReminder struct {
	Name   string    `json:"name"`
	Method string    `json:"method"`
	Next   time.Time `json:"next"`
	// Period is empty for one that fires once, else a duration or a cron line.
	Period string `json:"period,omitempty"`
}

// Describe reads an actor as the log has it, at some moment after it was asked.
// No method runs and nothing is activated; an actor that nobody ever called has
// nothing. It is for people and for repairs: what a program needs to know it
// asks a [Query].
func Describe[A any](ctx context.Context, ref Ref[A]) (d Description, err error) {
	n, err := nodeFrom(ctx)
	if err != nil {
		return d, err
	}
	from, err := n.runtime.Describe(ctx, ref.Type, ref.ID)
	if err != nil {
		return d, n.explained(&callee{ref.Type, ref.ID, "Describe"}, err)
	}
	return described(&from), nil
}

func described(from *runtime.Description) Description {
	d := Description{More: from.More}
	for _, c := range from.Cells {
		version, n := binary.Uvarint(c.Value)
		d.Values = append(d.Values, StoredValue{Name: c.Name, Version: int(min(version, 1<<31-1)), Raw: c.Value[max(n, 0):]}) //nolint:gosec // bounded
	}
	for _, r := range from.Requests {
		d.Requests = append(d.Requests, QueuedRequest{
			RequestID: r.ID, Method: r.Method, Link: int(min(r.Link, 1<<31-1)), Attempts: int(min(r.Tries, 1<<31-1)), //nolint:gosec // bounded
			Since: r.Waited, Running: r.Running,
		})
	}
	for _, r := range from.Reminders {
		d.Reminders = append(d.Reminders, SetReminder{Name: r.Name, Method: r.Method, Next: time.UnixMilli(r.Next), Period: r.Period})
	}
	return d
}

// explained says which question an error belongs to, and what is known of why
// there is no answer.
func (n *Node) explained(c *callee, err error) error {
	if look, ok := errors.AsType[*runtime.LookError](err); ok {
		return c.failure(&record.Failure{Code: look.Code, Message: look.Message})
	}
	return n.hosted(c.failed(err))
}

// hosted adds to an error of a call without an answer that nobody hosts the
// type, where that is known: on a node that hosts something.
func (n *Node) hosted(err error) error {
	e, ok := errors.AsType[*CallError](err)
	if !ok || e.Detail != "" || !errors.Is(e.Err, ErrUnanswered) {
		return err
	}
	if actorType, _, _ := strings.Cut(e.Actor, "/"); n.runtime.Unhosted(actorType) {
		e.Detail = "no process that is alive hosts type " + actorType
	}
	return err
}
