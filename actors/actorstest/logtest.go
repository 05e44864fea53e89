package actorstest

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// What the log of [TestLog] must have.
const (
	// LogType and OtherType are types of actors that have at least two
	// partitions each.
	LogType   = "conformance"
	OtherType = "conformance-other"
	// LogTopic is an ordinary topic.
	LogTopic = "conformance-topic"
)

// promise is something that a log must keep.
type promise struct {
	name string
	keep func(r *rig)
}

var promises = []promise{
	{"a type has a fixed number of partitions and no more", fixedPartitions},
	{"entries are read in the order in which they were appended", appendOrder},
	{"an acknowledgement tells the place where the entry is read", acknowledgedPlace},
	{"all readers see what concurrent appends made in one order", oneOrder},
	{"a reader begins where it is told to", readFrom},
	{"Poll takes at least one entry, and stays within the bytes asked for", pollBytes},
	{"Poll does not wait, and wake tells when to ask again", pollAndWake},
	{"partitions are apart from each other", apartPartitions},
	{"what is truncated is out of range, and offsets go on", truncation},
	{"truncation beyond the end removes no more than all", truncationBeyond},
	{"a partition without a snapshot has none", noSnapshot},
	{"the newest complete snapshot is read", newestSnapshot},
	{"an older snapshot that is saved late takes nothing away", lateSnapshot},
	{"chunks that did not change are not written again", keptChunks},
	{"a snapshot whose chunks are missing is no snapshot", incompleteSnapshot},
	{"of concurrent saves the highest stays", concurrentSaves},
	{"one member is assigned all partitions of its types", loneMember},
	{"members share evenly, and as few partitions as possible move", fairShares},
	{"who leaves is assigned nothing, and others take over", leaving},
	{"members know each other's methods", knownMethods},
	{"answers reach who listens", answers},
	{"an answer to nobody is no error", answersToNobody},
	{"messages of ordinary topics are acknowledged", publishing},
	{"messages of ordinary topics are read", sourcing},
	{"what is closed takes nothing", closing},
}

// TestLog checks that a log keeps the promises of package journal: use it for
// logs of your own. open returns an empty log for the types and the topic above;
// TestLog closes it.
func TestLog(t *testing.T, open func(t *testing.T) journal.Log) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) { p.keep(newRig(t, open(t))) })
	}
}

// patience is how long a log may take for anything.
const patience = 30 * time.Second

// rig is a log that is tested.
type rig struct {
	*testing.T
	journal.Log
	p journal.Partition
}

func newRig(t *testing.T, log journal.Log) *rig {
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return &rig{T: t, Log: log, p: journal.Partition{Type: LogType, Index: 1}}
}

// ack is how an append ended.
type ack struct {
	journal.Place
	err error
}

// post appends, and returns where its end can be taken from, once.
func (r *rig) post(p journal.Partition, data string) <-chan ack {
	acked := make(chan ack, 2)
	r.Append(p, []byte(data), func(at journal.Place, err error) { acked <- ack{at, err} })
	return acked
}

// await returns how an append ended.
func (r *rig) await(acked <-chan ack) ack {
	r.Helper()
	select {
	case a := <-acked:
		return a
	case <-time.After(patience):
		r.Fatal("an append was not acknowledged")
		return ack{}
	}
}

// add appends, one after the other.
func (r *rig) add(p journal.Partition, all ...string) (places []journal.Place) {
	r.Helper()
	for _, data := range all {
		a := r.await(r.post(p, data))
		if a.err != nil {
			r.Fatalf("Append: %v", a.err)
		}
		places = append(places, a.Place)
	}
	return places
}

// cursor reads a partition, and waits where there is nothing.
type cursor struct {
	rig *rig
	journal.Reader
	woken chan struct{}
}

func (r *rig) open(p journal.Partition, from int64) *cursor {
	r.Helper()
	c := &cursor{rig: r, woken: make(chan struct{}, 1)}
	reader, err := r.Read(p, from, func() {
		select {
		case c.woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		r.Fatalf("Read from %d: %v", from, err)
	}
	c.Reader = reader
	return c
}

// take returns the next n entries.
func (c *cursor) take(n int) (all []journal.Entry) {
	c.rig.Helper()
	limit := time.After(patience)
	for len(all) < n {
		entries, err := c.Poll(1 << 20)
		if err != nil {
			c.rig.Fatalf("Poll: %v", err)
		}
		all = append(all, entries...)
		if len(entries) > 0 {
			continue
		}
		select {
		case <-c.woken:
		case <-limit:
			c.rig.Fatalf("%d of %d entries came", len(all), n)
		}
	}
	return all
}

// texts are the data of entries.
func texts(all []journal.Entry) []string {
	s := make([]string, len(all))
	for i := range all {
		s[i] = string(all[i].Data)
	}
	return s
}

// eventually waits until something holds.
func (r *rig) eventually(what string, holds func() bool) {
	r.Helper()
	for began := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			r.Fatalf("not within %v: %s", patience, what)
		}
	}
}
