package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

var part = journal.Partition{Type: "t", Index: 1}

// seen is what somebody who starts now finds.
func seen(t *testing.T, on shelf) (*state, *manifest) {
	t.Helper()
	s := newState(on)
	if err := s.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, s.highest(save{})
}

// everything is what somebody finds who reads everything.
func everything(t *testing.T, on shelf) (*state, *manifest) {
	t.Helper()
	s := newState(on)
	if err := s.widen(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, s.highest(save{})
}

// changed is when a chunk last changed, as of an offset: some change often,
// some seldom.
func changed(number uint32, at int64) int64 { return at - at%(7*int64(number+1)) }

func chunkText(c journal.Chunk) []byte {
	return fmt.Appendf(nil, "chunk %d of %d", c.Number, changed(c.Number, c.At))
}

// saver is a process that saves snapshots again and again, and may be out of
// date.
type saver struct {
	*state
	table *table
	last  journal.Manifest
	core  []byte // of all snapshots that save makes; nil: each has its own
}

// next makes the snapshot as of an offset: what has changed is new, and now and
// then what has not.
func (s *saver) next(at int64) (journal.Manifest, map[journal.Chunk][]byte) {
	m := journal.Manifest{At: at, Core: fmt.Appendf(nil, "core of %d", at)}
	fresh := make(map[journal.Chunk][]byte)
	for n := range uint32(4) {
		c := journal.Chunk{Number: n, At: at}
		if int(n) < len(s.last.Chunks) {
			if old := s.last.Chunks[n]; changed(n, at) <= old.At && s.table.rng(4) > 0 {
				c = old
			}
		}
		if m.Chunks = append(m.Chunks, c); c.At == at {
			fresh[c] = chunkText(c)
		}
	}
	return m, fresh
}

// save saves the next snapshot, and goes on from it.
func (s *saver) save(t *testing.T, at int64) journal.Manifest {
	t.Helper()
	m, fresh := s.next(at)
	if s.core != nil {
		m.Core = s.core
	}
	if err := s.replace(t.Context(), part, m, fresh); err != nil {
		t.Fatal(err)
	}
	s.last = m
	return m
}

func (s *saver) catchUp(t *testing.T) {
	if err := s.refresh(t.Context()); err != nil {
		t.Error(err)
	}
	s.last = journal.Manifest{}
	if top := s.highest(save{}); top != nil {
		s.last.At = top.At
		for i := range top.Chunks {
			s.last.Chunks = append(s.last.Chunks, top.Chunks[i].chunk())
		}
	}
}

// What Save has returned for is never lost, however saves and deletions of
// processes that know of each other late or not at all come together: the log is
// cut off below it.
func TestASnapshotThatWasSavedIsThereForEver(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			on := newTable(seed, 1<<20)
			var clock, durable atomic.Int64
			for range 3 {
				go saveOften(t, &saver{state: newState(on), table: on}, &clock, &durable)
			}
			s := newState(on)
			for range 150 {
				time.Sleep(17 * time.Millisecond)
				least := durable.Load()
				if err := s.refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				top := s.highest(save{})
				if least > 0 && (top == nil || top.At < least) {
					t.Fatalf("seed %d: the snapshot as of %d was saved, and %+v is left", seed, least, top)
				}
				whole(t, s, top)
			}
			time.Sleep(time.Minute) // all savers have ended
		})
	}
}

func saveOften(t *testing.T, s *saver, clock, durable *atomic.Int64) {
	s.catchUp(t)
	for range 30 {
		at := clock.Add(int64(s.table.rng(9)))
		if s.table.rng(5) == 0 { // was stopped for a while
			s.table.dawdle(300)
		}
		m, fresh := s.next(at)
		if err := s.replace(t.Context(), part, m, fresh); err != nil || s.table.rng(6) == 0 {
			s.catchUp(t)
			continue
		}
		s.last = m
		for old := durable.Load(); at > old && !durable.CompareAndSwap(old, at); old = durable.Load() {
		}
	}
}

// whole reads a snapshot and checks what it says.
func whole(t *testing.T, s *state, m *manifest) {
	t.Helper()
	if m == nil {
		return
	}
	core, err := s.body(t.Context(), s.where(m.core(), m.Core.Pieces))
	if err != nil || string(core) != fmt.Sprintf("core of %d", m.At) {
		t.Fatalf("core of %d: %q, %v", m.At, core, err)
	}
	for i := range m.Chunks {
		c := &m.Chunks[i]
		data, err := s.body(t.Context(), s.where(c.blob(), c.Pieces))
		want := fmt.Appendf(nil, "chunk %d of %d", c.Number, changed(c.Number, m.At))
		if err != nil || !bytes.Equal(data, want) {
			t.Fatalf("snapshot as of %d: %q, %v; want %q", m.At, data, err, want)
		}
	}
}

func TestLargeChunksAndCoresAreSplit(t *testing.T) {
	on := newTable(1, 10_000)
	s := newState(on)
	c := journal.Chunk{Number: 3, At: 5}
	long := []byte(strings.Repeat("long chunk ", 5000))
	m := journal.Manifest{At: 5, Core: []byte(strings.Repeat("long core ", 5000)), Chunks: []journal.Chunk{c}}
	if err := s.replace(t.Context(), part, m, map[journal.Chunk][]byte{c: long}); err != nil {
		t.Fatal(err)
	}
	s, top := seen(t, on)
	core, err := s.body(t.Context(), s.where(top.core(), top.Core.Pieces))
	if err != nil || !bytes.Equal(core, m.Core) || top.Core.Pieces < 5 {
		t.Errorf("%d bytes of %d in %d pieces, %v", len(core), len(m.Core), top.Core.Pieces, err)
	}
	at := s.find(c)
	data, err := s.body(t.Context(), s.where(at.blob(), at.Pieces))
	if err != nil || !bytes.Equal(data, long) {
		t.Errorf("%d bytes of %d, %v", len(data), len(long), err)
	}
}

func TestWhatIsSupersededIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 1<<20)
		s := &saver{state: newState(on), table: on}
		for at := int64(1); at < 400; at += 3 {
			if at > 390 {
				time.Sleep(time.Second) // deletions may be late
			}
			s.save(t, at)
		}
		time.Sleep(time.Second)
		left, top := everything(t, on)
		if len(left.manifests) > 1 || len(left.blobs) > 5 {
			t.Errorf("%d manifests and %d blobs are left", len(left.manifests), len(left.blobs))
		}
		whole(t, left, top)
	})
}

func TestStrangersRecordsAmongSnapshotsAreLeftOut(t *testing.T) {
	on := newTable(1, 1<<20)
	for _, key := range []string{"", "x", "blob/1", "blob/x/y/core/0", "blob/1/w/core/x", "blob/1/w/core/-1", "manifest/1/w/more", "manifest/1/w", "manifest/9/strange"} {
		if _, err := on.add(key, value([]byte("{no json"))); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = on.add("manifest/10/newer", value([]byte(`{"format":99,"core":{"pieces":1}}`)))
	if s, top := seen(t, on); top != nil || len(s.blobs) > 0 {
		t.Errorf("%v, %v", top, s.blobs)
	}
}

func TestASaveEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var b batch
		b.add()
		if err := b.wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// short is a shelf that gives nothing though there is something.
type short struct{ *table }

func (s short) fetch(_ context.Context, from int64, _ int32) (block, error) {
	return block{next: from}, nil
}

func TestAStateIsNotReadInPart(t *testing.T) {
	on := newTable(1, 1000)
	_, _ = on.add("key", nil)
	if err := newState(short{on}).refresh(t.Context()); !errors.Is(err, errShort) {
		t.Error(err)
	}
}

// slowly is a shelf whose writes take a minute.
type slowly struct{ *table }

func (s slowly) put(key string, value sarama.Encoder, done func(journal.Place, error)) {
	time.AfterFunc(time.Minute, func() { done(s.add(key, value)) })
}

func TestALoadDoesNotWaitForASave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 1<<20)
		s := &saver{state: newState(on), table: on}
		s.save(t, 1)
		s.shelf = slowly{on}
		next, fresh := s.next(3)
		saved := make(chan error, 1)
		go func() { saved <- s.replace(t.Context(), part, next, fresh) }()
		time.Sleep(time.Second) // it writes
		began := time.Now()
		c := s.last.Chunks[2]
		data, err := s.load(t.Context(), part, c)
		if took := time.Since(began); err != nil || !bytes.Equal(data, chunkText(c)) || took > time.Second {
			t.Errorf("%q, %v, after %v", data, err, took)
		}
		if len(saved) > 0 {
			t.Error("the save has ended before")
		}
		if err := <-saved; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
	})
}

// asked is a shelf that counts what is asked of it.
type asked struct {
	*table
	bounded, fetched int
}

func (a *asked) bounds(ctx context.Context) (first, next int64, err error) {
	a.bounded++
	return a.table.bounds(ctx)
}

func (a *asked) fetch(ctx context.Context, from int64, most int32) (block, error) {
	a.fetched++
	return a.table.fetch(ctx, from, most)
}

// The first use of an actor waits for a load: so it is one request.
func TestALoadOfWhatIsKnownToBeThereIsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 1<<20)
		s := &saver{state: newState(on), table: on}
		m := s.save(t, 1)
		shelf := &asked{table: on}
		other, _ := seen(t, shelf)
		shelf.bounded, shelf.fetched = 0, 0
		c := m.Chunks[2]
		if data, err := other.load(t.Context(), part, c); err != nil || !bytes.Equal(data, chunkText(c)) {
			t.Errorf("%q, %v", data, err)
		}
		if shelf.bounded != 0 || shelf.fetched != 1 {
			t.Errorf("%d and %d requests", shelf.bounded, shelf.fetched)
		}
		_, old, _ := on.bounds(t.Context())
		s.last = m
		next, fresh := s.next(1000) // all chunks have changed
		if err := s.replace(t.Context(), part, next, fresh); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // of late deletions
		on.blank(old)
		if data, err := other.load(t.Context(), part, c); err == nil {
			t.Errorf("%q is there no longer", data)
		}
		if data, err := other.load(t.Context(), part, next.Chunks[2]); err != nil || !bytes.Equal(data, chunkText(next.Chunks[2])) {
			t.Errorf("%q, %v", data, err)
		}
	})
}

// Chunks that are too many for a record are told in a list, which is swept with
// its manifest.
func TestASnapshotMayHaveMoreChunksThanARecordHasRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 10_000)
		s := newState(on)
		const n = 500
		for at := int64(1); at <= 3; at++ {
			m := journal.Manifest{At: at, Core: []byte("core")}
			fresh := make(map[journal.Chunk][]byte)
			for k := range uint32(n) {
				c := journal.Chunk{Number: k, At: 1}
				if k == 0 {
					c.At = at
				}
				if m.Chunks = append(m.Chunks, c); c.At == at {
					fresh[c] = fmt.Appendf(nil, "%d as of %d", k, at)
				}
			}
			if err := s.replace(t.Context(), part, m, fresh); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second) // of late deletions
		left, top := everything(t, on)
		if top == nil || top.At != 3 || len(top.Chunks) != n || top.List == nil || top.List.Pieces < 4 {
			t.Fatalf("%+v", top)
		}
		for _, c := range []journal.Chunk{{Number: 0, At: 3}, {Number: n - 1, At: 1}} {
			data, err := left.load(t.Context(), part, c)
			if want := fmt.Sprintf("%d as of %d", c.Number, c.At); err != nil || string(data) != want {
				t.Errorf("%q, %v; want %q", data, err, want)
			}
		}
		told := 0
		for b := range left.blobs {
			if b.isList() {
				told++
			}
		}
		if told != 1 || len(left.lists) != 0 || len(left.manifests) != 1 {
			t.Errorf("%d lists, %d not read, %d manifests are left", told, len(left.lists), len(left.manifests))
		}
	})
}

// Without its list a manifest says nothing.
func TestAManifestWithoutItsListIsNotComplete(t *testing.T) {
	x := newIndex()
	own := newManifest(5)
	own.Core, own.List = stored{Save: own.save, Pieces: 1}, &list{nameList(1), stored{Save: own.save, Pieces: 2}}
	record, err := encodeManifest(own)
	if err != nil {
		t.Fatal(err)
	}
	x.apply(&message{key: []byte(blob{own.save, coreName}.key(0)), value: []byte("core")})
	x.apply(&message{key: []byte(own.listed().key(0)), value: []byte("[")})
	x.apply(&message{key: []byte(own.manifestKey()), value: record})
	if x.complete(own.save) {
		t.Error("it is, without the second piece")
	}
	x.apply(&message{key: []byte(own.listed().key(1)), value: []byte("]")})
	x.apply(&message{key: []byte(own.manifestKey()), value: record})
	if !x.complete(own.save) {
		t.Error("it is not, with all pieces")
	}
}
