package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// What can be asked about a partition is asked as a shared read is, of methods
// that every owner has: so it is never older than what anybody was told before.
// No method of the application runs.
const (
	methodResult   = "backstay.result"
	methodList     = "backstay.list"
	methodDescribe = "backstay.describe"
)

// Codes of what is known of a request that has not ended.
const (
	// CodeUnknown: nothing is known of it.
	CodeUnknown = "unknown_request"
	// CodePending: it was accepted and has not ended.
	CodePending = "pending"
)

// looks are the methods, by name.
var looks = map[string]func(*incarnation, *record.Read) record.Result{
	methodResult:   (*incarnation).result,
	methodDescribe: (*incarnation).describe,
}

// look answers a read that asks about the partition itself, at once or when
// cells have been loaded.
func (inc *incarnation) look(r *record.Read) bool {
	if r.Method == methodList {
		inc.list(r)
		return true
	}
	f, ok := looks[r.Method]
	if ok && (r.Method != methodDescribe || !inc.waitToRead(r)) {
		inc.node.emit(r.Reply, r.ID, f(inc, r))
	}
	return ok
}

// Result is what a request from outside with an idempotency key has ended
// with: [CodePending] if it has not, [CodeUnknown] if it was not accepted, or
// ended so long ago that it is forgotten. Nothing runs.
func (n *Node) Result(ctx context.Context, r ClientCall) (record.Result, error) {
	var m record.ClientRequest
	if err := n.request(ctx, &r, true, &m); err != nil {
		return record.Result{}, err
	}
	return n.look(ctx, m.Target, methodResult, m.ID[:])
}

func (inc *incarnation) result(r *record.Read) record.Result {
	if len(r.Args) != len(record.ID{}) {
		return failure(CodeUnknown, "that is no id")
	}
	switch result, done, known := inc.state.Answer(record.ID(r.Args)); {
	case done:
		return result
	case known:
		return failure(CodePending, inc.holdup(record.ID(r.Args)))
	default:
		return failure(CodeUnknown, "")
	}
}

func failure(code, message string) record.Result {
	return record.Result{Failure: &record.Failure{Code: code, Message: message}}
}

// Known is an actor of a list.
type Known struct {
	Actor     string `json:"actor"`
	Cells     int    `json:"cells,omitempty"`
	Requests  int    `json:"requests,omitempty"`
	Reminders int    `json:"reminders,omitempty"`
}

// page asks for the actors after an id.
type page struct {
	After string `json:"after"`
	Limit int    `json:"limit"`
}

// pageSize is how many actors, and about how many bytes, a page has.
const (
	pageSize  = 1000
	pageBytes = 256 << 10
)

// List returns the first actors of a partition after an id, in the order of
// their ids; none if there are no more.
func (n *Node) List(ctx context.Context, p record.Partition, after string) ([]Known, error) {
	args, err := json.Marshal(page{After: after, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	var all []Known
	err = n.lookInto(ctx, record.Address{Type: p.Type, Index: p.Index}, methodList, args, &all)
	return all, err
}

// Count is the number of partitions of a type.
func (n *Node) Count(ctx context.Context, actorType string) (uint32, error) {
	return n.count(ctx, actorType)
}

// Description is what is stored and queued of one actor.
type Description struct {
	Cells     []Stored `json:"cells"`
	Requests  []Queued `json:"requests"`
	Reminders []Alarm  `json:"reminders"`
	// More requests wait than are told.
	More int `json:"more,omitempty"`
}

// Stored is a cell.
type Stored struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// Queued is a request that waits or runs.
type Queued struct {
	ID      string        `json:"id"`
	Method  string        `json:"method"`
	Key     string        `json:"key"`
	Link    uint64        `json:"link"`
	Tries   uint64        `json:"tries"`
	Waited  time.Duration `json:"waited"`
	Running bool          `json:"running"`
}

// Alarm is a reminder that is set.
type Alarm struct {
	Name   string `json:"name"`
	Method string `json:"method"`
	Next   int64  `json:"next"`
	Period string `json:"period,omitempty"`
}

// mostQueued bounds the requests that are told of an actor.
const mostQueued = 100

// Describe tells what is stored and queued of an actor.
func (n *Node) Describe(ctx context.Context, actorType, actor string) (d Description, err error) {
	count, err := n.count(ctx, actorType)
	if err != nil {
		return d, err
	}
	err = n.lookInto(ctx, record.To(actorType, actor, count), methodDescribe, nil, &d)
	return d, err
}

func (inc *incarnation) describe(r *record.Read) record.Result {
	actor := r.Target.Actor
	d := Description{Cells: []Stored{}, Requests: []Queued{}, Reminders: []Alarm{}}
	for _, c := range inc.state.Cells(actor, "") {
		d.Cells = append(d.Cells, Stored{Name: c.Name, Value: c.Value})
	}
	for e := range inc.state.Queue(actor) {
		if len(d.Requests) == mostQueued {
			d.More = inc.state.Depth(actor) - mostQueued
			break
		}
		d.Requests = append(d.Requests, inc.queued(e))
	}
	for a := range inc.state.Reminders(actor) {
		d.Reminders = append(d.Reminders, Alarm{Name: a.Name, Method: a.Method, Next: a.Next, Period: a.Period})
	}
	if result := told(d); len(result.Value) <= inc.node.config.MaxRecord {
		return result
	}
	return failure(CodeTooLarge, fmt.Sprintf("%s/%s has more than fits into an answer", inc.self.Type, actor))
}

func (inc *incarnation) queued(e *machine.Entry) Queued {
	a := inc.work[e.ID]
	return Queued{
		ID: e.ID.String(), Method: e.Method, Key: e.IdempotencyKey(), Link: e.Seq, Tries: e.Tries,
		Waited: time.Duration(max(inc.now-e.Queued, 0)) * time.Millisecond, Running: a != nil && a != resolving,
	}
}

// told encodes an answer of plain data.
func told(v any) record.Result {
	text, err := json.Marshal(v)
	if err != nil { // plain data always encodes
		return failure(CodeNoMethod, err.Error())
	}
	return record.Result{Value: text}
}

// look asks.
func (n *Node) look(ctx context.Context, to record.Address, method string, args []byte) (record.Result, error) {
	if n.clients.refused() {
		return record.Result{}, ErrStopped
	}
	r := &record.Read{ID: newID(), Target: to, Method: method, Args: slices.Clone(args), Reply: n.address}
	return n.askFor(ctx, r)
}

// lookInto asks for plain data.
func (n *Node) lookInto(ctx context.Context, to record.Address, method string, args []byte, into any) error {
	result, err := n.look(ctx, to, method, args)
	switch {
	case err != nil:
		return err
	case result.Failure != nil:
		return &LookError{Code: result.Failure.Code, Message: result.Failure.Message}
	default:
		return json.Unmarshal(result.Value, into)
	}
}

// LookError is how a question about a partition failed.
type LookError struct{ Code, Message string }

// Error says why.
func (e *LookError) Error() string { return "runtime: " + e.Message }

// Unhosted reports whether it is known that no live process hosts a type: a
// mere client knows nothing of others.
func (n *Node) Unhosted(actorType string) bool {
	members := n.members()
	return len(members) > 0 && !slices.ContainsFunc(members, func(m journal.Member) bool { return len(m.Methods[actorType]) > 0 })
}

// unhosted says in a text that nobody hosts a type, if that is known.
func (n *Node) unhosted(actorType string) string {
	if !n.Unhosted(actorType) {
		return ""
	}
	return " (no process that is alive hosts type " + actorType + ")"
}
