package simtest

import (
	"cmp"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// account is what a partition's log amounts to, by the rules of the protocol:
// written down once more, plainly and without regard to speed, so that the
// machine can be compared with something that is not itself.
type account struct {
	self       record.Partition
	epoch      uint64
	clock      int64
	partitions uint32
	window     int64

	live      []*request // all actors', the oldest first
	delayed   []*request
	cells     map[string]map[string]string
	in        map[record.Partition]uint64
	out       map[record.Dest][]record.Message // all there ever were: number n is at n-1
	dropped   map[record.Dest]uint64           // numbers up to here were forwarded
	roots     map[record.ID]*root
	reminders map[reminder]record.Reminder
	ingress   map[journal.Source]uint64
	changed   map[string]bool // actors whose cells the last record changed
	wrong     []string        // what must not happen
}

// request is a request in its mailbox.
type request struct {
	record.Request
	calls, tries    uint64
	retryAt, queued int64
	held, cancelled bool
	children        []record.ID
}

type root struct {
	until  int64
	done   bool
	answer record.Result
}

type reminder struct{ actor, name string }

func newAccount(self record.Partition) *account {
	return &account{
		self: self, cells: make(map[string]map[string]string), in: make(map[record.Partition]uint64),
		out: make(map[record.Dest][]record.Message), dropped: make(map[record.Dest]uint64),
		roots: make(map[record.ID]*root), reminders: make(map[reminder]record.Reminder), ingress: make(map[journal.Source]uint64), changed: make(map[string]bool),
	}
}

// find returns a live request.
func (a *account) find(id record.ID) *request {
	for _, q := range a.live {
		if q.ID == id {
			return q
		}
	}
	return nil
}

// link returns the live request that a record of an owner is about.
func (a *account) link(epoch uint64, l record.Link) *request {
	if q := a.find(l.ID); epoch == a.epoch && q != nil && q.Link == l {
		return q
	}
	return nil
}

// known returns what is remembered of a root.
func (a *account) known(id record.ID) *root {
	r := a.roots[id]
	if r != nil && r.done && a.clock > r.until+a.window {
		return nil
	}
	return r
}

// enter applies a record, and reports whether its guards let it.
func (a *account) enter(r record.Record, at int64) bool {
	a.clock = max(a.clock, at)
	clear(a.changed)
	switch r := r.(type) {
	case *record.ClientRequest:
		return a.client(r)
	case *record.Read:
		return true
	case *record.Mail:
		return a.mail(r)
	case *record.Cancel:
		return a.cancel(a.find(r.Child))
	case *record.Takeover:
		return a.takeover(r)
	default:
		return a.owner(r)
	}
}

func (a *account) mail(r *record.Mail) bool {
	if r.Source == a.self || r.Number != a.in[r.Source]+1 {
		return false
	}
	a.in[r.Source]++
	a.accept(r.Message)
	return true
}

func (a *account) cancel(q *request) bool {
	if q == nil || q.Begun || q.cancelled {
		return false
	}
	q.cancelled = true
	return true
}

func (a *account) takeover(r *record.Takeover) bool {
	if r.Epoch != a.epoch+1 || a.epoch > 0 && (a.partitions != r.Partitions || a.window != r.Window) {
		return false
	}
	a.epoch, a.partitions, a.window = r.Epoch, r.Partitions, r.Window
	return true
}

// owner applies what owners write.
func (a *account) owner(r record.Record) bool {
	switch r := r.(type) {
	case *record.Issued:
		return a.issued(a.link(r.Epoch, r.Link), r.Call, r.Children, &r.Delta)
	case *record.Write:
		return a.issued(a.link(r.Epoch, r.Link), r.Call, nil, &r.Delta)
	case *record.Begun:
		return a.link(r.Epoch, r.Link).begin(r.Attempt)
	case *record.Failed:
		return a.link(r.Epoch, r.Link).fail(r.Attempt, r.NotBefore)
	case *record.Step:
		return a.step(a.link(r.Epoch, r.Link), r)
	case *record.Expired:
		return a.expired(r)
	case *record.Forwarded:
		return a.forwarded(r)
	case *record.Undeliverable:
		return a.undeliverable(r)
	case *record.Fire:
		return r.Epoch == a.epoch && a.fire(r)
	case *record.Ingest:
		return r.Epoch == a.epoch && a.ingest(r)
	}
	return false
}

func (q *request) begin(attempt uint64) bool {
	if q == nil || q.tries+1 != attempt {
		return false
	}
	q.tries, q.Begun = attempt, true
	return true
}

func (q *request) fail(attempt uint64, retryAt int64) bool {
	if q == nil || q.tries+1 != attempt && q.tries != attempt {
		return false
	}
	q.tries, q.Begun, q.retryAt = attempt, true, retryAt
	return true
}

func (a *account) client(r *record.ClientRequest) bool {
	if a.clock > r.Until {
		return false
	}
	if known := a.known(r.ID); known != nil {
		known.until = max(known.until, r.Until)
		return false
	}
	if r.Target.Partition() != a.self || a.partitions != 0 && record.PartitionOf(r.Target.Actor, a.partitions) != a.self.Index {
		return false
	}
	if a.find(r.ID) != nil {
		return false
	}
	a.roots[r.ID] = &root{until: r.Until}
	a.queue(&record.Request{
		Link: record.Link{ID: r.ID, Life: r.Until}, Target: r.Target, Deadline: a.deadline(r.TTL, r.Deadline), NotBefore: r.NotBefore,
		Method: r.Method, Args: r.Args, Key: r.Key, Baggage: r.Baggage,
		Return: record.Return{Kind: record.ReturnClient, Partition: a.self, Reply: r.Reply},
	})
	return true
}

func (a *account) deadline(ttl, absolute int64) int64 {
	if ttl > 0 && a.clock > 0 {
		return a.clock + ttl
	}
	return absolute
}

// queue takes a request in, at the end, or sets it aside until its time.
func (a *account) queue(r *record.Request) {
	q := &request{Request: *r}
	if r.NotBefore > a.clock {
		a.delayed = append(a.delayed, q)
		return
	}
	q.queued = a.clock
	a.live = append(a.live, q)
}

// put sends a message; to the own partition it is there at once.
func (a *account) put(to record.Dest, m record.Message) {
	if to == (record.Dest{Partition: a.self}) {
		a.accept(m)
		return
	}
	a.out[to] = append(a.out[to], m)
}

func (a *account) accept(m record.Message) {
	switch m := m.(type) {
	case *record.Request:
		a.queue(m)
	case *record.Response:
		if m.Parent.Zero() {
			a.finish(m.Child, m.Result)
			return
		}
		parent := a.find(m.Parent)
		if parent == nil || !slices.Contains(parent.children, m.Child) {
			a.wrong = append(a.wrong, "P8: a response that nobody waits for: "+m.Child.String())
			return
		}
		parent.children = slices.DeleteFunc(parent.children, func(id record.ID) bool { return id == m.Child })
	}
}

func (a *account) finish(id record.ID, answer record.Result) {
	r := a.roots[id]
	if r == nil || r.done {
		a.wrong = append(a.wrong, "P1: root "+id.String()+" ends, and is not open")
		return
	}
	r.done, r.answer = true, answer
}

// respond hands a result back.
func (a *account) respond(r *record.Request, result record.Result) {
	home := record.Dest{Partition: r.Return.Partition}
	switch r.Return.Kind {
	case record.ReturnClient:
		a.put(home, &record.Response{Child: r.ID, Reply: r.Return.Reply, Result: result})
	case record.ReturnParent:
		a.put(home, &record.Response{Child: r.ID, Parent: r.Return.Parent, Result: result})
	case record.ReturnNone:
	}
}

func (a *account) remove(q *request) {
	a.live = slices.DeleteFunc(a.live, func(x *request) bool { return x == q })
}

// actors are those that have requests, in the order of their names.
func (a *account) actors() []string {
	var all []string
	for _, q := range a.live {
		if !slices.Contains(all, q.Target.Actor) {
			all = append(all, q.Target.Actor)
		}
	}
	slices.Sort(all)
	return all
}

func compareParts(a, b record.Partition) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Index, b.Index))
}
