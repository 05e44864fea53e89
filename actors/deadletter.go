package actors

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// DeadLetter is a request that was given up, or a record of a log that could
// not be read, as it stands in the topic of dead letters. In brackets are the
// headers of the message; its value is the argument.
type DeadLetter struct {
	// Reason is expired, mailbox_full, poison, [ReasonNotIngested] or
	// [ReasonUndecodable]; or that of a tell which the log has refused for good, too_large
	// or no_type [backstay-reason]. Detail says more, for people [backstay-detail].
	Reason, Detail string
	// Type, ID and Method are what was called [backstay-actor, backstay-method].
	Type, ID, Method string
	// RequestID is that of Self [backstay-request], Key the idempotency key
	// [backstay-key].
	RequestID, Key string
	// Attempts of the last link are on record [backstay-attempts].
	Attempts int
	// Queued is when the request came to its actor, GivenUp when it was given up,
	// by the log's clock [backstay-queued-ms, backstay-given-up-ms]. Queued is zero of
	// what the log has refused: it never came there.
	Queued, GivenUp time.Time
	// Baggage travelled with it, as JSON [backstay-baggage].
	Baggage Baggage
	// Source is the partition that wrote the letter, Number the number of the
	// message [backstay-source, backstay-number]: together they tell copies from
	// letters. Of a record that could not be read the number is its offset
	// [backstay-offset]; of a tell that the log has refused it is that of the tell among
	// what Source sent to Dest.
	Source string
	Number uint64
	// Origin is where a message was that could not be ingested:
	// topic/partition/offset [backstay-origin]. The letter has its key, its value
	// and its headers.
	Origin string
	// Dest is the partition that a tell was for whose log has refused it for good
	// [backstay-dest]. Empty of all other letters.
	Dest string
	// LeftOut is how many bytes the letter is without, since with them the brokers
	// refused it as too large: the Argument, and what had more than 16 KiB in its
	// headers, baggage for example [backstay-left-out]. 0 means that it is whole.
	LeftOut int
	// Argument is what the method would have got, as the codec wrote it; or the
	// record; or the value of the message.
	Argument []byte
}

// ReasonUndecodable is the reason of a record that could not be read: it has
// none of the request's fields.
const ReasonUndecodable = runtime.ReasonUndecodable

// ReasonNotIngested is the reason of a message that [Hosting.Ingest] could make
// no tell of: it has none of the request's fields.
const ReasonNotIngested = machine.CodeNotIngested

// CopyKey is the same for all copies of the letter, and for nothing else: the
// idempotency key with which to make the request again.
func (d DeadLetter) CopyKey() string {
	numbers := "#" // those of the outbox
	switch {
	case d.Reason == ReasonUndecodable:
		numbers = "@" // offsets
	case d.Dest != "":
		numbers = ":" + d.Dest + "#"
	}
	return d.Source + numbers + strconv.FormatUint(d.Number, 10)
}

// ReadDeadLetter reads a message of the topic of dead letters. [Node.Requeue]
// makes the request again as it was; to mend it first, decode its argument with
// the application's codec, and tell the method:
//
//	var in Purchase
//	if err := (actors.JSON{}).Decode(letter.Argument, &in); err != nil { ... }
//	err := Buy.Tell(ctx, Order.Ref(letter.ID), in, actors.IdempotencyKey(letter.CopyKey()))
//
// A message that is none is an error.
func ReadDeadLetter(m journal.Message) (DeadLetter, error) {
	h := headers(m.Headers)
	actorType, id, _ := strings.Cut(h.text(runtime.HeaderActor), "/")
	d := DeadLetter{
		Reason: h.text(runtime.HeaderReason), Detail: h.text(runtime.HeaderDetail),
		Type: actorType, ID: id, Method: h.text(runtime.HeaderMethod),
		RequestID: h.text(runtime.HeaderRequest), Key: h.text(runtime.HeaderKey), Attempts: int(min(h.number(runtime.HeaderAttempts), 1<<31-1)),
		Queued: h.time(runtime.HeaderQueued), GivenUp: h.time(runtime.HeaderGivenUp),
		Source: h.text(runtime.HeaderSource), Number: h.number(runtime.HeaderNumber),
		Origin: h.text(runtime.HeaderOrigin), Dest: h.text(runtime.HeaderDest), LeftOut: h.leftOut(), Argument: m.Value,
	}
	_ = json.Unmarshal([]byte(h.text(runtime.HeaderBaggage)), &d.Baggage) // what does not decode is left out, as it is for methods
	switch {
	case d.Reason == ReasonUndecodable && d.Source != "":
		d.Number = h.number(runtime.HeaderOffset)
		return d, nil
	case d.Reason == ReasonNotIngested && d.Source != "": // what else it says is about its message
		return DeadLetter{
			Reason: d.Reason, Detail: d.Detail, GivenUp: d.GivenUp, Source: d.Source, Number: d.Number, Origin: d.Origin, LeftOut: d.LeftOut, Argument: d.Argument,
		}, nil
	case d.Reason == "" || d.ID == "" || d.Method == "":
		return DeadLetter{}, fmt.Errorf("actors: a message of topic %q is no dead letter: it lacks headers", m.Topic)
	}
	return d, nil
}

// headers are those of a message.
type headers []journal.Header

// text is the last of a name: what a message came with is before what the letter
// says.
func (h headers) text(name string) string {
	for _, one := range slices.Backward(h) {
		if one.Name == name {
			return string(one.Value)
		}
	}
	return ""
}

// number is 0 for what is none.
func (h headers) number(name string) uint64 {
	n, _ := strconv.ParseUint(h.text(name), 10, 64)
	return n
}

// leftOut is of the letter itself only as the last header: before that it is of the
// message that the letter is about.
func (h headers) leftOut() int {
	if len(h) == 0 || h[len(h)-1].Name != runtime.HeaderLeftOut {
		return 0
	}
	return int(min(h.number(runtime.HeaderLeftOut), 1<<31-1))
}

func (h headers) time(name string) time.Time {
	ms, err := strconv.ParseInt(h.text(name), 10, 64)
	if err != nil || ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// mourner is what the runtime tells of dead letters, nil if nobody wants to
// know.
func (n *Node) mourner() func(journal.Message) {
	if n.onDead == nil {
		return nil
	}
	return func(m journal.Message) {
		if n.roots.Add() { // else the node is stopped
			go n.mourn(m)
		}
	}
}

// mourn calls the hook, however that ends.
func (n *Node) mourn(m journal.Message) {
	defer n.roots.Done()
	d, err := ReadDeadLetter(m)
	returned := false
	defer func() {
		v := recover()
		if returned || n.observer == nil {
			return
		}
		s := backstay.Scope{Policy: d.Type, Observer: n.observer}
		s.Emit(n.ctx, backstay.Event{Kind: backstay.CallbackPanicked, Operation: "OnDeadLetter", Err: fmt.Errorf("actors: OnDeadLetter: %v", v)})
	}()
	if err == nil {
		n.onDead(n.ctx, d)
	}
	returned = true
}
