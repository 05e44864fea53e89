package membership

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// Membership is a [journal.Membership] in a consumer group. It is safe for
// concurrent use.
type Membership struct {
	config   Config
	links    links
	writer   *writer
	reader   *reader
	group    *group
	registry *registry
	alarm    chan struct{}      // holds one: the group is to be looked at
	first    chan error         // holds one: how the first attempt to join went
	tuned    chan struct{}      // closed: a beat of this instance was read
	cancel   context.CancelFunc // of all that runs
	running  sync.WaitGroup
	leave    leaving
	asking   trouble // the group, to be a member
	sweeping trouble // the group, for those who must go
	pauses   pauses

	mu       sync.Mutex
	self     string   // instance id
	former   []string // instance ids that are to be taken leave of
	seq      uint64
	detector *detector
	suspects []string // those that were told of
	swept    bool     // the group was looked at for ghosts
	readBack backstay.Instant
	lease    lease
	held     bool // the lease, when it was last looked at
	joined   bool
	left     bool
	share    []journal.Partition // by the group
	assigned []journal.Partition // as it is told
	changed  chan struct{}
	answered chan struct{} // closed with the group's next answer
}

// Peer is a member, as its beats tell.
type Peer struct {
	journal.Member
	// Instance is new with every start, and after a removal from the group.
	Instance string
	// Address is what the member was configured with.
	Address string
}

// newInstance makes an id that no instance had before. Of the name it keeps what
// Kafka allows.
func newInstance(name string) string {
	const most = 200
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		default:
			return '-'
		}
	}, name)
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return name[:min(len(name), most)] + "-" + hex.EncodeToString(random[:])
}

// Assigned returns the partitions of this process: those that the group has
// given it, none while that is in doubt.
func (m *Membership) Assigned() ([]journal.Partition, <-chan struct{}) {
	m.look()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.assigned, m.changed
}

// Members are those whose beats are heard, and this one.
func (m *Membership) Members() []journal.Member {
	peers := m.Peers()
	all := make([]journal.Member, len(peers))
	for i, p := range peers {
		all[i] = p.Member
	}
	return all
}

// Peers are the members with what else is known of them, this one first.
func (m *Membership) Peers() []Peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []Peer{{Member: m.config.Member, Instance: m.self, Address: m.config.Address}}
	for _, p := range m.detector.others() {
		all = append(all, Peer{Member: journal.Member{Name: p.Name, Methods: p.Methods}, Instance: p.ID, Address: p.Address})
	}
	return all
}

// hear takes a beat that was read.
func (m *Membership) hear(b *beat, at int64) {
	m.mu.Lock()
	known := len(m.detector.pulses)
	m.detector.hear(b, at)
	if b.ID == m.self {
		m.readBack = backstay.Instant(b.Sent)
		m.tune()
	}
	coming := len(m.detector.pulses) != known
	before := m.suspects
	m.suspects = m.detector.suspects()
	after, alarm := m.suspects, !m.swept && m.detector.settled() && m.fresh(backstay.Now())
	m.mu.Unlock()
	if coming {
		m.group.hurry()
	}
	m.compare(before, after, alarm)
}

// compare tells who is newly suspect, and who is no longer.
func (m *Membership) compare(before, after []string, alarm bool) {
	for _, id := range after {
		if !slices.Contains(before, id) {
			alarm = true
			m.report(Event{Kind: Suspected, Instance: id})
		}
	}
	for _, id := range before {
		if !slices.Contains(after, id) {
			m.recovered(id)
		}
	}
	if alarm {
		m.group.hurry()
		select {
		case m.alarm <- struct{}{}:
		default: // it is raised already
		}
	}
}

func (m *Membership) recovered(id string) {
	m.mu.Lock()
	p := m.detector.pulses[id]
	m.mu.Unlock()
	if p != nil { // else it was removed
		m.report(Event{Kind: Recovered, Instance: id})
	}
}

// tune says that own beats are read.
func (m *Membership) tune() {
	select {
	case <-m.tuned:
	default:
		close(m.tuned)
	}
}

// due are the beats to be written now.
func (m *Membership) due() ([]*beat, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*beat
	for _, id := range m.former {
		all = append(all, m.farewell(id))
	}
	m.former = nil
	every := m.pace()
	m.seq++
	return append(all, &beat{
		Version: version, ID: m.self, Name: m.config.Member.Name, Seq: m.seq, Every: every.Milliseconds(),
		Sent: int64(backstay.Now()), Address: m.config.Address, Methods: m.config.Member.Methods,
	}), every
}

func (m *Membership) farewell(id string) *beat {
	return &beat{Version: version, ID: id, Name: m.config.Member.Name, Every: m.config.Beat.Milliseconds(), Gone: true}
}

// pace is the interval of this member's beats.
func (m *Membership) pace() time.Duration { return pace(m.config.Beat, len(m.detector.pulses)) }

// fresh reports whether an own beat was sent lately and has been read: then so
// was what others wrote before it.
func (m *Membership) fresh(now backstay.Instant) bool {
	return m.readBack != 0 && now.Sub(m.readBack) <= max(m.config.SuspectAfter, missed*m.pace())
}

func (m *Membership) report(e Event) {
	if m.config.Observe != nil {
		m.config.Observe(e)
	}
}
