package machine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// A model of roots is a map: whatever comes and goes, in whatever order, each is
// found with its own answer, and no other is.
func TestRootsAreFoundWithTheirAnswers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var roots roots
	model := make(map[record.ID]string)
	until := make(map[record.ID]int64)
	for now := range int64(5000) {
		id := record.ID{byte(rng.IntN(256)), 15: byte(rng.IntN(32))} // few, so that they come again
		switch r := roots.of(id); {
		case (r != nil) != (until[id] > 0):
			t.Fatalf("at %d: of %v there is %v", now, id, r)
		case r == nil:
			until[id] = now + 1 + rng.Int64N(300)
			roots.open(id, until[id])
		case r.stage == awaited:
			model[id] = strings.Repeat("x", rng.IntN(3*pageSize/2)*(rng.IntN(8)/7)) + id.String()
			roots.close(r, roots.archive.put(&record.Result{Value: []byte(model[id])}))
		default:
			until[id] = max(until[id], now+rng.Int64N(300))
			roots.prolong(r, until[id])
		}
		roots.forget(now)
		for id := range model {
			if until[id] < now {
				delete(model, id)
				delete(until, id)
			}
		}
		if now%50 == 0 {
			compareRootsWith(t, &roots, model)
		}
	}
	if kept := len(roots.archive.pages) - len(roots.archive.blank); kept > len(model)+2 {
		t.Errorf("%d answers keep %d pages", len(model), kept)
	}
}

func compareRootsWith(t *testing.T, roots *roots, model map[record.ID]string) {
	t.Helper()
	s := State{roots: *roots}
	for id, want := range model {
		if r := roots.of(id); r == nil || r.stage != answered || string(s.result(r).Value) != want {
			t.Fatalf("%v: %v", id, r)
		}
	}
	done := 0
	stored := roots.stored()
	for _, x := range stored {
		if x.done {
			done++
		}
	}
	if !slices.IsSortedFunc(stored, compareRoots) {
		t.Fatal("they are written out of order")
	}
	if done != len(model) {
		t.Fatalf("%d answers are written, want %d", done, len(model))
	}
}

// An answer that is asked for again must stay what it is, also when its page is
// used for others.
func TestAnAnswerThatWasTakenOutDoesNotChange(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, &record.Step{Epoch: 1, Link: linkOf(1), Result: record.Result{Value: []byte("answer")}})
	taken, _, _ := s.Answer(record.ID{1})
	for i := range s.roots.archive.pages {
		clear(s.roots.archive.pages[i].text)
	}
	if string(taken.Value) != "answer" {
		t.Errorf("it is %q now", taken.Value)
	}
}

// A glance may be at anything, at any time, and what comes then is applied as
// without it.
func TestAGlanceChangesNothing(t *testing.T) {
	glanced, other := steady(), steady()
	for n := range uint64(3 * fewSlots) {
		glanced.Glance([]record.ID{{}, {byte(n)}, {255}})
		for _, s := range []*State{glanced, other} {
			if fx := s.Apply(client(byte(n+1), "a"), 2); fx.Void != Effective {
				t.Fatal(fx.Void)
			}
		}
	}
	if !bytes.Equal(glanced.Snapshot(), other.Snapshot()) {
		t.Error("the states differ")
	}
}
