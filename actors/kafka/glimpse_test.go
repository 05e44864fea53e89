package kafka

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// frozen is a copy of a table on which nothing happens.
func (t *table) frozen() *table {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &table{size: t.size, rng: func(n int) int { return n - 1 }, records: slices.Clone(t.records)}
}

// A process that reads the end of a partition only finds the same snapshot as
// one that reads all of it, however savers that are out of date come together.
func TestAGlimpseFindsWhatIsFoundByReadingEverything(t *testing.T) {
	glimpses := 0
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			on := newTable(seed, 10_000)
			var clock, durable atomic.Int64
			for range 3 {
				go saveOften(t, &saver{state: newState(on), table: on}, &clock, &durable)
			}
			for range 50 {
				time.Sleep(51 * time.Millisecond)
				still := on.frozen()
				some, found := seen(t, still)
				if some.glimpse != nil {
					glimpses++
				}
				_, top := everything(t, still)
				if (top == nil) != (found == nil) || top != nil && top.At != found.At {
					t.Fatalf("seed %d: found %+v, there is %+v", seed, found, top)
				}
				whole(t, some, found)
			}
			time.Sleep(time.Minute) // all savers have ended
		})
	}
	if glimpses < 100 {
		t.Errorf("only %d of 500 have read the end only", glimpses)
	}
}

// What a glimpse cannot say is found by reading everything.
func TestAGlimpseKnowsWhatItDoesNotSee(t *testing.T) {
	const from = 10
	below := blob{save{At: 1, Writer: "a"}, coreName}
	written := func(at, seen int64) *message {
		m := &manifest{save: save{At: at, Writer: "b"}, Seen: seen, Core: stored{Save: below.save, Pieces: 1, Offsets: []int64{3}}}
		data, err := encodeManifest(m)
		if err != nil {
			t.Fatal(err)
		}
		return &message{key: []byte(m.manifestKey()), value: data}
	}
	deleted := &message{key: []byte(below.key(0))}
	strange := &message{key: []byte(save{At: 9, Writer: "c"}.manifestKey()), value: []byte(`{"format":1,"seen":10,"core":{"pieces":1}}`)}
	for name, c := range map[string]struct {
		records []*message
		exact   bool
	}{
		"what lies below it":                          {[]*message{written(5, from)}, true},
		"that it was deleted afterwards":              {[]*message{written(5, from), deleted}, false},
		"that it was deleted before":                  {[]*message{deleted, written(5, from)}, false},
		"what was deleted before a late one":          {[]*message{written(5, from), written(4, from-1)}, false},
		"what has become of the parts of a newer one": {[]*message{written(5, from), strange}, false},
		"nothing": {nil, false},
	} {
		x := newIndex()
		x.glimpse = &glimpse{from: from, deleted: make(map[blob]map[int]bool)}
		for i, m := range c.records {
			m.offset = int64(from + i)
			x.apply(m)
		}
		if x.exact() != c.exact {
			t.Errorf("%s: it is exact: %v", name, !c.exact)
		}
	}
}

// bustling is a shelf on which something happens just after it was asked where it
// ends, and which gives all that it has then.
type bustling struct {
	*table
	then func()
}

func (b *bustling) bounds(ctx context.Context) (first, next int64, err error) {
	first, next, err = b.table.bounds(ctx)
	if then := b.then; then != nil {
		b.then = nil
		then()
	}
	return first, next, err
}

func (b *bustling) fetch(_ context.Context, from int64, _ int32) (block, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	end := int64(len(b.records))
	return block{messages: slices.Clone(b.records[from:]), next: end, end: end}, nil
}

// What a glimpse would begin with may be written while it is looked for.
func TestAGlimpseIsNotOfWhatIsNotReadYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 1<<20)
		s := &saver{state: newState(on), table: on}
		s.save(t, 1)
		s.save(t, 8)
		time.Sleep(time.Second) // of late deletions
		_, top := seen(t, &bustling{on, func() { s.save(t, 15) }})
		if top == nil || top.At < 8 {
			t.Errorf("found %+v", top)
		}
		time.Sleep(time.Second)
	})
}

// tardy is a shelf whose deletions land when it is told.
type tardy struct {
	*table
	kept []string
}

func (d *tardy) put(key string, value sarama.Encoder, done func(journal.Place, error)) {
	if value == nil {
		d.kept = append(d.kept, key)
		done(journal.Place{}, nil)
		return
	}
	done(d.add(key, value))
}

func (d *tardy) land() {
	for _, key := range d.kept {
		_, _ = d.add(key, nil)
	}
}

// Brokers forget deletions. A snapshot that one made incomplete, and whose saver
// died before it noticed, is not taken for a complete one.
func TestAGlimpseDoesNotCountOnDeletionsThatBrokersHaveForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &tardy{table: newTable(1, 1<<20)}
		s := newState(on)
		all := func(at int64) (m journal.Manifest, fresh map[journal.Chunk][]byte) {
			m = journal.Manifest{At: at, Core: fmt.Appendf(nil, "core of %d", at)}
			fresh = make(map[journal.Chunk][]byte)
			for n := range uint32(2) {
				c := journal.Chunk{Number: n, At: at}
				m.Chunks, fresh[c] = append(m.Chunks, c), chunkText(c)
			}
			return m, fresh
		}
		first, fresh := all(1)
		if err := s.replace(t.Context(), part, first, fresh); err != nil {
			t.Fatal(err)
		}
		m, fresh := all(6)
		m.Chunks[1] = first.Chunks[1]
		dying := &draft{state: newState(on), of: part, content: m, fresh: fresh, own: newManifest(m.At)}
		if err := dying.consult(t.Context(), func() {
			dying.top, dying.own.Seen = dying.highest(save{}), dying.next
			dying.gather()
		}); err != nil {
			t.Fatal(err)
		}
		other, fresh := all(3)
		if err := s.replace(t.Context(), part, other, fresh); err != nil {
			t.Fatal(err)
		}
		if err := dying.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		on.land()
		on.compact()
		_, _ = on.add(blob{save{At: 9, Writer: "w"}, coreName}.key(0), value(nil)) // of a save that has only begun
		found, top := seen(t, on)
		if top == nil || top.At != other.At {
			t.Errorf("found %+v", top)
		}
		whole(t, found, top)
	})
}

// scale is a table that weighs what is read of it.
type scale struct {
	*table
	read int // bytes
}

func (s *scale) fetch(ctx context.Context, from int64, most int32) (block, error) {
	b, err := s.table.fetch(ctx, from, most)
	for i := range b.messages {
		s.read += len(b.messages[i].key) + len(b.messages[i].value)
	}
	return b, err
}

// little is how many bytes a claim may read, whatever was before: a thousand
// snapshots have five million.
const little = 20 << 10

var largeCore = bytes.Repeat([]byte{'x'}, 4<<10)

// That is what a process reads that takes a partition over for the first time.
// Brokers compact what was, but late.
func TestWhatAFirstClaimReadsDoesNotGrowWithTheSnapshotsThatWere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 1<<20)
		s := &saver{state: newState(on), table: on, core: largeCore}
		read := make(map[int]int)
		for n := 1; n <= 1000; n++ {
			m := s.save(t, int64(3*n))
			if n == 10 || n == 100 || n == 1000 {
				weighed := &scale{table: on.frozen()}
				if _, top := seen(t, weighed); top == nil || top.At != m.At {
					t.Fatalf("after %d snapshots the newest is %+v", n, top)
				}
				read[n] = weighed.read
			}
		}
		t.Logf("bytes by snapshots: %v", read)
		if read[100] > little || read[1000] > little {
			t.Errorf("bytes by snapshots: %v", read)
		}
	})
}

// Nor what one reads that takes it over again, after another has had it.
func TestWhatALaterClaimReadsDoesNotGrowWithTheSnapshotsThatWere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 1<<20)
		returning := &saver{state: newState(on), table: on, core: largeCore}
		s := &saver{state: newState(on), table: on, core: largeCore}
		returning.save(t, 1)
		s.catchUp(t)
		for n := range int64(1000) {
			s.save(t, 3*n+3)
		}
		weighed := &scale{table: on}
		returning.shelf = weighed
		returning.catchUp(t)
		if returning.last.At != s.last.At || weighed.read > little {
			t.Errorf("%d bytes are read, and the newest is as of %d", weighed.read, returning.last.At)
		}
		returning.save(t, 5000)
		time.Sleep(time.Second) // of late deletions
		left, top := everything(t, on)
		if top == nil || top.At != 5000 || len(left.manifests) != 1 || len(left.blobs) > 5 {
			t.Errorf("%+v, %d manifests and %d blobs are left", top, len(left.manifests), len(left.blobs))
		}
	})
}

// Nor does who has read everything once count on deletions that brokers have
// forgotten before it reads on.
func TestWhoReadsOnDoesNotCountOnDeletionsThatBrokersHaveForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := newTable(1, 1<<20)
		s := &saver{state: newState(on), table: on}
		save := func(at int64) {
			s.save(t, at)
			time.Sleep(time.Second) // of late deletions
		}
		save(1)
		away, _ := everything(t, on)
		save(1000)
		s.catchUp(t) // or it would delete once more
		on.compact()
		save(1001)
		if err := away.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		there, _ := everything(t, on)
		if away.glimpse != nil || !maps.EqualFunc(away.blobs, there.blobs, maps.Equal[map[int]int64, map[int]int64]) || len(away.manifests) != len(there.manifests) {
			t.Errorf("it knows of %v and %v, there are %v and %v", away.manifests, away.blobs, there.manifests, there.blobs)
		}
	})
}
