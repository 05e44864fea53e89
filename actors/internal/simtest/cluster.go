package simtest

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// Options are those of a [Cluster].
type Options struct {
	// Seed decides all that is left to chance.
	Seed uint64
	// Partitions is the number of every type, 3.
	Partitions uint32
	// Faults are what goes wrong.
	Faults []Fault
	// Judge is told of every record; nil means nobody.
	Judge *Judge
	// Silent says that methods do not report that they wait ([Parked]).
	Silent bool
	// Credulous says that the membership cannot be asked: it confirms what a
	// process believes.
	Credulous bool
}

// Cluster is the log, as it is.
type Cluster struct {
	seed   uint64
	count  uint32
	judge  *Judge
	silent bool
	trusts bool
	inner  *memory.Log // membership, snapshots and addresses
	store  *memory.Store

	mu       sync.Mutex
	parts    map[journal.Partition]*partition
	letters  map[string][]journal.Message
	faults   []Fault
	passed   map[passing]int
	happened []string
	healed   bool
	skew     time.Duration   // of the log's clock
	refused  map[parcel]bool // as the log has said of the first copy
	crashed  func(v *View)
	views    []*View
}

// partition is the sequence of entries.
type partition struct {
	first   int64
	entries []journal.Entry
	all     [][]byte // also what was truncated: copies may land at any time
	readers []*reader
}

func (p *partition) next() int64 { return p.first + int64(len(p.entries)) }

// New returns an empty log. It is to be made within a bubble.
func New(o Options) *Cluster {
	c := &Cluster{
		seed: o.Seed, count: o.Partitions, judge: o.Judge, silent: o.Silent, trusts: o.Credulous, faults: o.Faults,
		parts: make(map[journal.Partition]*partition), letters: make(map[string][]journal.Message), passed: make(map[passing]int), refused: make(map[parcel]bool),
	}
	if c.count == 0 {
		c.count = 3
	}
	c.inner = memory.New(memory.WithPartitions(c.count))
	c.store = memory.NewStore()
	for i := range c.faults {
		if f := &c.faults[i]; f.Point == "time" {
			time.AfterFunc(time.Duration(f.Nth)*time.Millisecond, func() { c.atTime(f) })
		}
	}
	return c
}

// atTime lets a fault happen to the newest view of its process.
func (c *Cluster) atTime(f *Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.healed || f.done {
		return
	}
	for _, v := range slices.Backward(c.views) {
		if v.process == f.Process && !v.dead {
			f.done = true
			c.happened = append(c.happened, f.String())
			v.strike([]*Fault{f})
			return
		}
	}
}

// Log returns the log as a process sees it. Faults are told which by number;
// a negative one is never struck.
func (c *Cluster) Log(name string, process int) *View {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash does not fail
	v := &View{
		cluster: c, name: name, process: process, rng: rand.New(rand.NewPCG(c.seed, h.Sum64())), //nolint:gosec // to be repeatable
		lanes: make(map[journal.Partition]*lane),
	}
	c.mu.Lock()
	c.views = append(c.views, v)
	c.mu.Unlock()
	return v
}

// Happened are the faults so far.
func (c *Cluster) Happened() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.happened...)
}

// Heal lets nothing go wrong any more, and ends what lasts.
func (c *Cluster) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.healed = true
	for _, v := range c.views {
		if !v.dead {
			v.resume()
			v.see()
			v.tell()
			v.skew.Store(0)
		}
	}
}

// Close takes every process out of the membership.
func (c *Cluster) Close() {
	c.mu.Lock()
	var seats []*seat
	for _, v := range c.views {
		seats = append(seats, v.seats...)
	}
	c.mu.Unlock()
	for _, s := range seats {
		s.vacate()
	}
}

// Letters are the messages of an ordinary topic.
func (c *Cluster) Letters(topic string) []journal.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]journal.Message(nil), c.letters[topic]...)
}

// Echo lands copies of n records that landed before, whoever wrote them.
func (c *Cluster) Echo(n int) {
	rng := rand.New(rand.NewPCG(c.seed, 77)) //nolint:gosec // to be repeatable
	for range n {
		c.mu.Lock()
		var names []journal.Partition
		for p := range c.parts {
			if !isTopic(p) {
				names = append(names, p)
			}
		}
		sortPartitions(names)
		var copied []byte
		var p journal.Partition
		if len(names) > 0 {
			p = names[rng.IntN(len(names))]
			all := c.parts[p].all
			copied = all[rng.IntN(len(all))]
		}
		c.mu.Unlock()
		if copied != nil {
			c.land(p, copied)
		}
		time.Sleep(time.Millisecond)
	}
}

// partition returns a partition. mu is held.
func (c *Cluster) partition(p journal.Partition) *partition {
	part := c.parts[p]
	if part == nil {
		part = new(partition)
		c.parts[p] = part
	}
	return part
}

// parcel is a request or a response on its way, whoever sends it.
type parcel struct {
	to   journal.Partition
	data string
}

// refuses reports whether the log will never take a parcel. To refuse for good
// what it has taken, or may take yet, would be a broken promise: the first copy
// decides. mu is held.
func (c *Cluster) refuses(s *sending, due []*Fault) bool {
	key := parcel{s.to, string(s.data)}
	refused, known := c.refused[key]
	if !known {
		refused = has(due, Refuse) != nil && isRequest(s.data, false) || has(due, RefuseTell) != nil && isRequest(s.data, true) ||
			has(due, RefuseResult) != nil
		c.refused[key] = refused
	}
	return refused
}

// isRequest reports whether data is a tell, or a call that somebody waits for.
func isRequest(data []byte, tell bool) bool {
	r, _ := record.Decode(data)
	if m, ok := r.(*record.Mail); ok {
		q, ok := m.Message.(*record.Request)
		return ok && q.Return.Tell() == tell
	}
	return false
}

// land puts an entry at the end of its partition, and has readers told.
func (c *Cluster) land(p journal.Partition, data []byte) journal.Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.put(p, data)
}

// put is land. mu is held.
func (c *Cluster) put(p journal.Partition, data []byte) journal.Place {
	part := c.partition(p)
	at := journal.Place{Offset: part.next(), At: time.Now().Add(c.skew).UnixMilli()}
	part.entries = append(part.entries, journal.Entry{Place: at, Data: data})
	part.all = append(part.all, data)
	switch {
	case c.judge == nil:
	case isTopic(p):
		c.judge.supplied(sourceOf(p), part.next())
	default:
		c.judge.landed(record.Partition(p), at, data)
	}
	for _, r := range part.readers {
		r.tell(at.Offset + 1)
	}
	return at
}
