package cellar

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/internal/testkit"
)

var here = journal.Partition{Type: "t"}

// meddled is a log in which something happens before a chunk is read.
type meddled struct {
	journal.Snapshots
	before func(journal.Chunk)
}

func (m *meddled) Chunk(ctx context.Context, p journal.Partition, k journal.Chunk) ([]byte, error) {
	m.before(k)
	return m.Snapshots.Chunk(ctx, p, k)
}

func TestAListGoesOnThoughItsChunksAreReplaced(t *testing.T) {
	log := memory.New()
	const many = 200
	changes := func(value string) (all []machine.Change) {
		for i := range many {
			all = append(all, machine.Change{Actor: fmt.Sprintf("%03d", i), Cells: []record.Cell{{Name: "x", Value: []byte(value)}}})
		}
		return all
	}
	saving, _ := OverSnapshots(log, here, journal.Manifest{}, 400)
	save := func(at int64, value string) {
		if err := saving.Save(t.Context(), journal.Manifest{At: at}, changes(value)); err != nil {
			t.Fatal(err)
		}
	}
	save(1, "old")
	m, _, err := log.Manifest(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	reads, at := 0, int64(1)
	from := &meddled{Snapshots: log}
	from.before = func(journal.Chunk) {
		if reads++; reads%7 == 3 && at < 5 { // larger each time, so that they are split
			at++
			save(at, strings.Repeat("new ", int(at)))
		}
	}
	listing, _ := OverSnapshots(from, here, m, 400)
	all, err := listing.List(t.Context(), "", many+1)
	if err != nil || len(all) != many || at != 5 {
		t.Fatalf("%d of %d actors after %d snapshots, %v", len(all), many, at, err)
	}
	for i := range all {
		if all[i].Actor != fmt.Sprintf("%03d", i) || len(all[i].Cells) != 1 {
			t.Fatalf("actor %d is %+v", i, all[i])
		}
	}
}

// counted is a log that counts what is read and written.
type counted struct {
	journal.Snapshots
	reads, written int
}

func (c *counted) Chunk(ctx context.Context, p journal.Partition, k journal.Chunk) ([]byte, error) {
	c.reads++
	return c.Snapshots.Chunk(ctx, p, k)
}

func (c *counted) Save(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	for _, b := range chunks {
		c.written += len(b)
	}
	return c.Snapshots.Save(ctx, p, m, chunks)
}

// model is what should be there: actor, cell, value.
type model map[string]map[string]string

func (m model) apply(c *machine.Change) {
	if c.Clear || m[c.Actor] == nil {
		m[c.Actor] = make(map[string]string)
	}
	for _, cell := range c.Cells {
		if cell.Removed {
			delete(m[c.Actor], cell.Name)
		} else {
			m[c.Actor][cell.Name] = string(cell.Value)
		}
	}
	if len(m[c.Actor]) == 0 {
		delete(m, c.Actor)
	}
}

func (m model) check(t *testing.T, c Cellar, actor string) {
	t.Helper()
	row, err := c.Load(t.Context(), actor)
	if err != nil {
		t.Fatal(err)
	}
	if known, ok := c.Known(actor); ok && fmt.Sprint(known) != fmt.Sprint(row) {
		t.Errorf("%s is known to be %v, and loaded as %v", actor, known, row)
	}
	m.same(t, actor, row.Cells)
}

func (m model) same(t *testing.T, actor string, cells []record.Cell) {
	t.Helper()
	got := make(map[string]string)
	for _, cell := range cells {
		got[cell.Name] = string(cell.Value)
	}
	if !maps.Equal(got, m[actor]) || !slices.IsSortedFunc(cells, func(a, b record.Cell) int { return strings.Compare(a.Name, b.Name) }) {
		t.Fatalf("%s has %v, want %v", actor, cells, m[actor])
	}
}

// draw makes changes of some actors.
func draw(rng *rand.Rand) (all []machine.Change) {
	for _, i := range rng.Perm(60)[:rng.IntN(12)] {
		c := machine.Change{Actor: fmt.Sprint("a", i), Clear: rng.IntN(5) == 0}
		for _, name := range []string{"x", "y", "z"} {
			switch rng.IntN(3) {
			case 0:
				c.Cells = append(c.Cells, record.Cell{Name: name, Value: []byte(strings.Repeat("v", rng.IntN(20)))})
			case 1:
				if !c.Clear {
					c.Cells = append(c.Cells, record.Cell{Name: name, Removed: true})
				}
			}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b machine.Change) int { return strings.Compare(a.Actor, b.Actor) })
	return all
}

func TestCellsAreWhatTheirChangesHaveMadeOfThem(t *testing.T) {
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 1))
		log, store := memory.New(), memory.NewStore()
		open := func() Cellar {
			m, _, _ := log.Manifest(t.Context(), here)
			var c Cellar
			var err error
			if seed%3 == 0 {
				c, err = OverStore(t.Context(), log, store, here, m)
			} else {
				c, err = OverSnapshots(log, here, m, []int{1, 100, 1000}[seed%3])
			}
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		want, c := make(model), open()
		for at := int64(1); at < 30; at++ {
			changes := draw(rng)
			if err := c.Save(t.Context(), journal.Manifest{At: at}, changes); err != nil {
				t.Fatal(err)
			}
			for i := range changes {
				want.apply(&changes[i])
			}
			if rng.IntN(4) == 0 {
				c = open()
			}
			for range 5 {
				want.check(t, c, fmt.Sprint("a", rng.IntN(60)))
			}
			want.list(t, c, 1+rng.IntN(9))
		}
	}
}

// list checks that all are listed, page by page.
func (m model) list(t *testing.T, c Cellar, limit int) {
	t.Helper()
	var got []string
	for after := ""; ; after = got[len(got)-1] {
		page, err := c.List(t.Context(), after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page {
			got = append(got, s.Actor)
			m.same(t, s.Actor, s.Cells)
		}
		if len(page) < limit {
			break
		}
	}
	if want := slices.Sorted(maps.Keys(m)); !slices.Equal(got, want) {
		t.Fatalf("listed %v, want %v", got, want)
	}
}

// Two owners that do not know of each other: what the late one reads is what the
// other has put in its place, and what it saves is refused.
func TestAnOwnerFindsWhatAnotherHasPutInThePlaceOfItsChunks(t *testing.T) {
	log := memory.New()
	first, _ := OverSnapshots(log, here, journal.Manifest{}, 50)
	change := func(value string) []machine.Change {
		all := make([]machine.Change, 20)
		for i := range all {
			all[i] = machine.Change{Actor: fmt.Sprintf("a%02d", i), Cells: []record.Cell{{Name: "x", Value: []byte(value)}}}
		}
		return all
	}
	save := func(c Cellar, at int64, value string) error {
		return c.Save(t.Context(), journal.Manifest{At: at}, change(value))
	}
	if err := save(first, 10, "old"); err != nil {
		t.Fatal(err)
	}
	m, _, _ := log.Manifest(t.Context(), here)
	second, _ := OverSnapshots(log, here, m, 200)
	if err := save(second, 20, "new"); err != nil {
		t.Fatal(err)
	}
	row, err := first.Load(t.Context(), "a07")
	if err != nil || row.At != 20 || string(row.Cells[0].Value) != "new" {
		t.Errorf("%+v, %v", row, err)
	}
	if err := save(first, 15, "late"); !errors.Is(err, ErrOutdated) {
		t.Errorf("a late save: %v", err)
	}
	if err := save(first, 30, "newest"); err != nil {
		t.Fatal(err)
	}
	if row, err := second.Load(t.Context(), "a07"); err != nil || row.At != 30 {
		t.Errorf("%+v, %v", row, err)
	}
}

func TestALargeActorHasAChunkForItself(t *testing.T) {
	log := &counted{Snapshots: memory.New()}
	c, _ := OverSnapshots(log, here, journal.Manifest{}, 1000)
	changes := []machine.Change{{Actor: "large", Cells: []record.Cell{{Name: "x", Value: make([]byte, 1<<20)}}}}
	for i := range 100 {
		changes = append(changes, machine.Change{Actor: fmt.Sprintf("small%02d", i), Cells: []record.Cell{{Name: "x", Value: make([]byte, 10)}}})
	}
	if err := c.Save(t.Context(), journal.Manifest{At: 1}, changes); err != nil {
		t.Fatal(err)
	}
	log.written = 0
	if err := c.Save(t.Context(), journal.Manifest{At: 2}, changes[1:]); err != nil {
		t.Fatal(err)
	}
	if log.written > 10_000 {
		t.Errorf("%d bytes were written for small actors", log.written)
	}
}

// cost is what it reads and writes to change 50 of so many actors.
func cost(tb testing.TB, actors int) (reads, written int) {
	tb.Helper()
	log := &counted{Snapshots: memory.New()}
	c, _ := OverSnapshots(log, here, journal.Manifest{}, 0)
	value := make([]byte, 100)
	all := make([]machine.Change, actors)
	for i := range all {
		all[i] = machine.Change{Actor: fmt.Sprintf("actor-%07d", i), Cells: []record.Cell{{Name: "state", Value: value}}}
	}
	if err := c.Save(tb.Context(), journal.Manifest{At: 1}, all); err != nil {
		tb.Fatal(err)
	}
	log.reads, log.written = 0, 0
	some := make([]machine.Change, 50)
	for i := range some {
		some[i] = all[i*actors/50]
	}
	if err := c.Save(tb.Context(), journal.Manifest{At: 2}, some); err != nil {
		tb.Fatal(err)
	}
	return log.reads, log.written
}

func TestASaveCostsWhatChangedAndNotWhatExists(t *testing.T) {
	if testkit.Race {
		t.Skip("it shares nothing, and is slow")
	}
	fewReads, few := cost(t, 10_000)
	manyReads, many := cost(t, 80_000)
	t.Logf("to change 50 of 10,000 actors reads %d chunks and writes %d bytes; of 80,000: %d and %d", fewReads, few, manyReads, many)
	if many > few*2 || manyReads > 50 || many > 50*ChunkSize {
		t.Error("it costs what exists")
	}
}
