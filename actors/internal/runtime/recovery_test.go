package runtime_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// What a takeover costs is what it reads. These tests count that, record by
// record, so they hold on any log and any machine; bench/kafka has the times.

// past is what an owner had behind it when it died.
type past struct {
	calls      int // that were answered, of each partition
	partitions uint32
	waiting    int // requests of the partition that was lost: they run
}

// haul is what was read of a partition for its takeover.
type haul struct {
	entries, log int // of the log, and their bytes
	core         int // bytes of the snapshot, without cells
	chunks       int // of cells
	over         bool
}

func (h haul) bytes() int { return h.log + h.core }

// weighed is a log that knows what is read of each partition, until somebody
// appends to it: of one that is taken over, until the Takeover.
type weighed struct {
	journal.Log
	mu  sync.Mutex
	all map[journal.Partition]*haul
}

// reset begins anew.
func (w *weighed) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = make(map[journal.Partition]*haul)
}

func (w *weighed) note(p journal.Partition, add func(h *haul)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all[p] == nil {
		w.all[p] = new(haul)
	}
	if !w.all[p].over {
		add(w.all[p])
	}
}

func (w *weighed) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	w.note(p, func(h *haul) { h.over = true })
	w.Log.Append(p, data, done)
}

func (w *weighed) Manifest(ctx context.Context, p journal.Partition) (journal.Manifest, bool, error) {
	m, ok, err := w.Log.Manifest(ctx, p)
	w.note(p, func(h *haul) { h.core += len(m.Core) })
	return m, ok, err
}

func (w *weighed) Chunk(ctx context.Context, p journal.Partition, c journal.Chunk) ([]byte, error) {
	w.note(p, func(h *haul) { h.chunks++ })
	return w.Log.Chunk(ctx, p, c)
}

func (w *weighed) Read(p journal.Partition, from int64, wake func()) (journal.Reader, error) {
	r, err := w.Log.Read(p, from, wake)
	return &weighedReader{r, w, p}, err
}

type weighedReader struct {
	journal.Reader
	log       *weighed
	partition journal.Partition
}

func (r *weighedReader) Poll(maxBytes int) ([]journal.Entry, error) {
	entries, err := r.Reader.Poll(maxBytes)
	if len(entries) > 0 {
		r.log.note(r.partition, func(h *haul) {
			h.entries += len(entries)
			for i := range entries {
				h.log += len(entries[i].Data)
			}
		})
	}
	return entries, err
}

const (
	// interval is how many records of a partition lie between two snapshots.
	interval = 100
	// aftermath is how many calls come after the history: it ends somewhere
	// between two snapshots.
	aftermath = 20
	// payload is how many bytes a request has that waits.
	payload = 1000
)

// takeover has a process of several die, each of which owns one partition, and
// returns what was read for the partition it had.
func (p past) takeover(t *testing.T) (read haul) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, p.partitions)
		defer c.stop()
		log := &weighed{Log: c.log}
		log.reset()
		c.log = log
		release := make(chan struct{})
		defer close(release)
		// Answers are kept for two windows: that is work, not history. Here a
		// partition has a hundred of them.
		config := runtime.Config{Window: time.Second, SnapshotRecords: interval}
		client := c.openWith(config)
		links := make(map[*runtime.Node]*link)
		for range p.partitions {
			l := new(link)
			n := c.openOn(l, config, holding(release))
			c.nodes, links[n] = append(c.nodes, n), l
			synctest.Wait()
		}
		c.nodes = append(c.nodes, c.openOn(new(link), config, holding(release))) // to take over
		for i := range p.calls + aftermath {
			for index := range p.partitions {
				c.call(client, inPartition(index, p.partitions, i%20), "inc", "")
			}
			time.Sleep(20 * time.Millisecond)
		}
		for i := range p.waiting {
			c.tell(client, inPartition(0, p.partitions, 20+i), "hold", string(make([]byte, payload)))
		}
		time.Sleep(time.Millisecond)
		lost := partition{Type: "t"}
		victim := owning(t, c.nodes, lost)
		log.reset()
		links[victim].crash()
		time.Sleep(time.Second)
		if by := owning(t, c.nodes, lost); by == victim {
			t.Fatal("nobody has taken over")
		}
		for other := range log.all {
			if other != lost {
				t.Errorf("%v was read, too", other)
			}
		}
		read = *log.all[lost]
		kill(victim)
	})
	t.Logf("%+v: %d records of %d bytes, a snapshot of %d bytes", p, read.entries, read.log, read.core)
	return read
}

// holding hosts counters, and requests that last.
func holding(release <-chan struct{}) runtime.Type {
	methods := counter()
	methods["inc"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
		set(a, "n", count(ctx, a, "n")+1)
		return value("")
	}
	methods["hold"] = func(ctx context.Context, _ *runtime.Attempt) runtime.End {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return value("")
	}
	return hosting(methods)
}

// inPartition is the nth id whose actor lives in a partition.
func inPartition(index, of uint32, n int) string {
	for i := 0; ; i++ {
		id := strconv.Itoa(i)
		if record.PartitionOf(id, of) != index {
			continue
		}
		if n--; n < 0 {
			return id
		}
	}
}

// owning is the node that owns a partition, among those that are not dead.
func owning(t *testing.T, nodes []*runtime.Node, p journal.Partition) (by *runtime.Node) {
	t.Helper()
	for _, n := range nodes {
		for _, at := range n.Inspect(t.Context()).Partitions {
			if at.Type == p.Type && at.Index == p.Index && at.Phase == "owning" {
				by = n
			}
		}
	}
	return by
}

// Whatever was done and answered before: what is read is the snapshot, whose
// size is that of what lives, and the records since, which are not more than
// those between two snapshots.
func TestATakeoverReadsNoMoreAfterAHundredTimesTheHistory(t *testing.T) {
	short := past{calls: 150, partitions: 1, waiting: 10}
	once := short.takeover(t)
	for _, times := range []int{1, 10, 100} {
		long := short
		long.calls *= times
		read := long.takeover(t)
		if most := interval + short.waiting; read.entries > most || read.chunks > 0 {
			t.Errorf("after %d calls %d records were read, more than %d, and %d chunks", long.calls, read.entries, most, read.chunks)
		}
		if read.core > once.core*5/4 {
			t.Errorf("after %d calls the snapshot has %d bytes, after %d it has %d", long.calls, read.core, short.calls, once.core)
		}
	}
}

// Each request that waits or runs is read once, in the snapshot or in the log.
func TestATakeoverReadsWhatWasAtWork(t *testing.T) {
	idle := past{calls: 150, partitions: 1}.takeover(t)
	for _, waiting := range []int{10, 100, 1000} {
		read := past{calls: 150, partitions: 1, waiting: waiting}.takeover(t)
		least, most := waiting*payload, waiting*payload*5/4+2*idle.bytes()
		if read.bytes() < least || read.bytes() > most {
			t.Errorf("%d bytes were read with %d requests of %d bytes, not %d to %d", read.bytes(), waiting, payload, least, most)
		}
	}
}

// Others' partitions are not looked at, and their number does not count.
func TestATakeoverReadsNoMoreAmongFourTimesThePartitions(t *testing.T) {
	one := past{calls: 150, partitions: 1, waiting: 10}.takeover(t)
	four := past{calls: 150, partitions: 4, waiting: 10}.takeover(t)
	if four.entries > one.entries+2 || four.bytes() > one.bytes()*5/4 {
		t.Errorf("of four partitions %+v was read, of one %+v", four, one)
	}
}
