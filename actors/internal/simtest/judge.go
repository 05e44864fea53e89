package simtest

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// Judge watches a cluster. Make it with [NewJudge], give it to [New].
type Judge struct {
	mu       sync.Mutex
	ledgers  map[record.Partition]*ledger
	accepted map[record.ID]int64 // roots, with the latest until that came in time
	fired    map[tick]bool
	stepped  map[place]bool
	reads    map[record.ID]bool
	labels   map[record.ID]string // of roots: their baggage
	attempts []*attempt
	ran      map[run]bool
	begins   map[place]int
	dead     map[string]bool
	grants   map[grant]int // that were not used yet
	faults   []string
	records  int
	effects  map[record.Kind]int
	landings map[record.Kind]int
	supply   map[journal.Source]int64 // how many messages there are
	wanted   map[journal.Source]bool  // somebody takes them in
	told     map[journal.Source]map[uint64]bool
}

// ledger is a partition, twice.
type ledger struct {
	*account
	state    *machine.State
	log      []journal.Entry
	cut      *machine.State // as of cutAt, for snapshots
	cutAt    int64
	kept     int64 // as of which all rows were saved
	suspects map[record.Link]bool
}

// place is a link in a partition.
type place struct {
	partition record.Partition
	link      record.Link
}

type tick struct {
	partition record.Partition
	reminder
	at int64
}

// NewJudge returns a judge of an empty log.
func NewJudge() *Judge {
	return &Judge{
		ledgers: make(map[record.Partition]*ledger), accepted: make(map[record.ID]int64), fired: make(map[tick]bool),
		stepped: make(map[place]bool), reads: make(map[record.ID]bool), labels: make(map[record.ID]string), ran: make(map[run]bool), begins: make(map[place]int),
		dead: make(map[string]bool), grants: make(map[grant]int), effects: make(map[record.Kind]int), landings: make(map[record.Kind]int),
		supply: make(map[journal.Source]int64), wanted: make(map[journal.Source]bool), told: make(map[journal.Source]map[uint64]bool),
	}
}

// Faults are the properties that were violated, the first one first.
func (j *Judge) Faults() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.faults)
}

// Records is how many there were.
func (j *Judge) Records() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.records
}

// Landed is how many records of each kind there were, void ones as well.
func (j *Judge) Landed() map[record.Kind]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.landings)
}

// Effects is how many records of each kind were effective.
func (j *Judge) Effects() map[record.Kind]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.effects)
}

const mostFaults = 20

func (j *Judge) fail(format string, args ...any) {
	if len(j.faults) < mostFaults {
		j.faults = append(j.faults, fmt.Sprintf("record %d: ", j.records)+fmt.Sprintf(format, args...))
	}
}

func (j *Judge) ledger(p record.Partition) *ledger {
	l := j.ledgers[p]
	if l == nil {
		l = &ledger{account: newAccount(p), state: machine.New(p), suspects: make(map[record.Link]bool)}
		j.ledgers[p] = l
	}
	return l
}

// landed judges the next record of a partition.
func (j *Judge) landed(p record.Partition, at journal.Place, data []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records++
	l := j.ledger(p)
	l.log = append(l.log, journal.Entry{Place: at, Data: data})
	r, err := record.Decode(data)
	if err != nil {
		l.clock = max(l.clock, at.At)
		l.state.Skip(at.At)
		return
	}
	j.landings[r.Kind()]++
	objections := j.object(l, r)
	effective := l.enter(r, at.At)
	fx := l.state.Apply(r, at.At)
	if effective != (fx.Void == machine.Effective) {
		j.fail("P8: a %v of %v: by the rules it is effective: %v; the machine says %q", r.Kind(), p, effective, fx.Void)
	}
	if d := l.compare(l.state, fx); d != "" {
		j.fail("P8: after a %v, %v: %s", r.Kind(), p, d)
	}
	for _, w := range l.wrong {
		j.fail("%s", w)
	}
	l.wrong = nil
	for _, a := range fx.Alarms {
		if a.Reason != machine.AlarmLost {
			j.fail("alarm: %s: %v", a.Reason, a.ID)
		}
	}
	if effective {
		j.effects[r.Kind()]++
		for _, o := range objections {
			j.fail("%s (a %v of %v)", o, r.Kind(), p)
		}
		j.note(l, r)
	}
	j.prolong(l, r)
}

// prolong notes until when copies of a root may come.
func (j *Judge) prolong(l *ledger, r record.Record) {
	switch r := r.(type) {
	case *record.ClientRequest:
		if l.clock <= r.Until {
			j.accepted[r.ID] = max(j.accepted[r.ID], r.Until)
		}
	case *record.Read:
		j.reads[r.ID] = true
	}
}

// note keeps what an effective record says for later.
func (j *Judge) note(l *ledger, r record.Record) {
	switch r := r.(type) {
	case *record.Step:
		j.stepped[place{l.self, r.Link}] = true
	case *record.Expired:
		for _, link := range r.Links {
			if l.find(link.ID) == nil {
				j.stepped[place{l.self, link}] = true
			}
		}
	case *record.Fire:
		j.fired[tick{l.self, reminder{r.Target.Actor, r.Name}, r.Tick}] = true
	case *record.Ingest:
		j.noteIngest(r)
	case *record.Takeover:
		l.suspects = l.suspected()
		j.grants[grant{r.Owner, l.self}]--
	case *record.ClientRequest:
		j.labels[r.ID] = string(r.Baggage)
	}
}

// suspected are the links that the last owner may have been running.
func (a *account) suspected() map[record.Link]bool {
	oldest := make(map[string]*request)
	all := make(map[record.Link]bool)
	for _, q := range a.live {
		first := oldest[q.Target.Actor]
		if first == nil {
			first = q
			oldest[q.Target.Actor] = q
		}
		if q == first || slices.Contains(q.Ancestors, first.ID) {
			all[q.Link] = true
		}
	}
	return all
}
