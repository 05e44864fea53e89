package runtime_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// link is one process's connection to the log, which faults happen to.
type link struct {
	journal.Log

	mu      sync.Mutex
	dead    bool // nothing goes out or comes in any more
	blind   bool // nothing comes in: a process that does not know what it missed
	slow    bool // it comes in one by one, a turn each
	mute    bool // answers do not go out
	pauses  uint64
	asked   bool // its membership can be asked; else it confirms what the process believes
	member  journal.Membership
	wakes   []func()
	appends int
	// before is asked before each append, after once it has landed, with its
	// number; true from before drops it, true from after loses the
	// acknowledgement.
	before, after func(n int, p journal.Partition, r record.Record) bool
}

var errCut = errors.New("cut off")

func (l *link) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	r, _ := record.Decode(data)
	l.mu.Lock()
	l.appends++
	n, before, after := l.appends, l.before, l.after
	l.mu.Unlock()
	if before != nil && before(n, p, r) || l.isDead() {
		return
	}
	l.Log.Append(p, data, func(at journal.Place, err error) {
		if after != nil && after(n, p, r) || l.isDead() {
			return
		}
		done(at, err)
	})
}

func (l *link) Publish(m journal.Message, done func(journal.Place, error)) {
	if !l.isDead() {
		l.Log.Publish(m, done)
	}
}

func (l *link) Answer(address string, data []byte) {
	l.mu.Lock()
	silent := l.dead || l.mute
	l.mu.Unlock()
	if !silent {
		l.Log.Answer(address, data)
	}
}

func (l *link) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

func (l *link) Join(ctx context.Context, m journal.Member) (journal.Membership, error) {
	member, err := l.Log.Join(ctx, m)
	l.member = &frozen{Membership: member, link: l}
	return l.member, err
}

func (l *link) Save(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	if l.isDead() {
		return errCut
	}
	return l.Log.Save(ctx, p, m, chunks)
}

func (l *link) Truncate(ctx context.Context, p journal.Partition, below int64) error {
	if l.isDead() {
		return errCut
	}
	return l.Log.Truncate(ctx, p, below)
}

func (l *link) Read(p journal.Partition, from int64, wake func()) (journal.Reader, error) {
	r, err := l.Log.Read(p, from, wake)
	l.mu.Lock()
	l.wakes = append(l.wakes, wake)
	l.mu.Unlock()
	return &reader{Reader: r, link: l, wake: wake}, err
}

type reader struct {
	journal.Reader
	link  *link
	wake  func()
	rests bool // it has nothing until it wakes
}

func (r *reader) Poll(n int) ([]journal.Entry, error) {
	r.link.mu.Lock()
	hidden, slow := r.link.dead || r.link.blind, r.link.slow
	r.link.mu.Unlock()
	if hidden {
		return nil, nil
	}
	if !slow {
		return r.Reader.Poll(n)
	}
	if r.rests = !r.rests; !r.rests {
		return nil, nil
	}
	time.AfterFunc(time.Millisecond, r.wake)
	return r.Reader.Poll(1)
}

// frozen is a membership whose process does not learn that it was put out.
type frozen struct {
	journal.Membership
	link *link
	mu   sync.Mutex
	left bool
	last []journal.Partition
}

func (f *frozen) Assigned() ([]journal.Partition, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left {
		return f.last, make(chan struct{})
	}
	all, changed := f.Membership.Assigned()
	f.last = all
	return all, changed
}

func (f *frozen) Leave(ctx context.Context) error {
	f.mu.Lock()
	left := f.left
	f.left = true
	f.mu.Unlock()
	if left {
		return nil
	}
	return f.Membership.Leave(ctx)
}

func (f *frozen) Confirmed(p partition, _ backstay.Instant) (bool, <-chan struct{}) {
	f.link.mu.Lock()
	asked := f.link.asked
	f.link.mu.Unlock()
	all, changed := f.Membership.Assigned()
	if !asked {
		all, changed = f.Assigned()
	}
	return slices.Contains(all, p), changed
}

func (f *frozen) Pauses(backstay.Instant) uint64 {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	return f.link.pauses
}

// pause has the process be stopped for a while, as far as it can tell.
func (l *link) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pauses++
}

// evict gives the process's partitions to others; it does not notice.
func (l *link) evict() { _ = l.member.Leave(context.Background()) }

// crash ends the process as far as anybody else can tell.
func (l *link) crash() {
	l.mu.Lock()
	l.dead = true
	l.mu.Unlock()
	l.evict()
}

// see lets a blind process read again.
func (l *link) see() {
	l.mu.Lock()
	l.blind = false
	wakes := l.wakes
	l.mu.Unlock()
	for _, wake := range wakes {
		wake()
	}
}

// openOn starts a node on a link of its own.
func (c *cluster) openOn(l *link, config runtime.Config, types ...runtime.Type) *runtime.Node {
	c.Helper()
	l.Log = c.log
	if config.DeadTopic == "" {
		config.DeadTopic = "dead"
	}
	config.Types = types
	n, err := runtime.Open(c.Context(), l, config)
	if err != nil {
		c.Fatal(err)
	}
	return n
}

// kill ends what is left of a crashed node.
func kill(n *runtime.Node) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.Stop(ctx)
}

func nothing(journal.Place, error) {}

// timeless is a log whose acknowledgements have no time.
type timeless struct{ journal.Log }

func (l timeless) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	l.Log.Append(p, data, func(at journal.Place, err error) {
		at.At = 0
		done(at, err)
	})
}
