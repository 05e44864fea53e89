package kafka

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// holding runs a test of a tail that fetches for an audience, which is to get the
// entry at 3 next.
func holding(t *testing.T, test func(t *testing.T, tl *tail, a *audience)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a, r := hearing(t, 3)
		tl := newTail(&fetcher{tails: make(map[tailKey]*tail)}, tailKey{}, r.feed)
		tl.gather()
		test(t, tl, a)
	})
}

// heldFor is how long the next fetch is held back.
func heldFor(tl *tail) time.Duration {
	began := time.Now()
	tl.hold()
	return time.Since(began)
}

// after does something in the middle of what follows.
func after(d time.Duration, do func()) { time.AfterFunc(d, do) }

func TestAFetchIsHeldBackUntilTheOnlyAppendHasEnded(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, a *audience) {
		t.Helper()
		a.begin()
		after(held/4, func() { a.end(sarama.ByteEncoder("3"), journal.Place{Offset: 3, At: 7}, nil) })
		if d := heldFor(tl); d != held/4 {
			t.Errorf("held for %v", d)
		}
	})
}

func TestAFetchIsHeldBackWhileAChainGoesOn(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, a *audience) {
		t.Helper()
		a.begin()
		for i := range int64(3) {
			after(time.Duration(i+1)*held/4, func() {
				if i < 2 {
					a.begin()
				}
				a.end(sarama.ByteEncoder("x"), journal.Place{Offset: 3 + i, At: 7}, nil)
			})
		}
		if d := heldFor(tl); d != 3*held/4 {
			t.Errorf("held for %v", d)
		}
	})
}

func TestAFetchIsNotHeldBackForLong(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, a *audience) {
		t.Helper()
		a.begin()
		if d := heldFor(tl); d != held {
			t.Errorf("held for %v", d)
		}
	})
}

func TestAFetchIsNotHeldBackWhereItHasSomethingToTell(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, a *audience) {
		t.Helper()
		if d := heldFor(tl); d != 0 {
			t.Errorf("held for %v with nothing under way", d)
		}
		a.begin()
		a.begin()
		if d := heldFor(tl); d != 0 {
			t.Errorf("held for %v with two appends under way", d)
		}
		after(held/4, func() { a.end(sarama.ByteEncoder("4"), journal.Place{Offset: 4, At: 7}, nil) })
		time.Sleep(held / 2)
		if d := heldFor(tl); d != 0 {
			t.Errorf("held for %v with an entry before what was acknowledged", d)
		}
	})
}

// Who is the first to know that something was missed ends the hold.
func TestAHoldEndsWithAnAcknowledgementThatLeavesAGap(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, a *audience) {
		t.Helper()
		a.begin()
		after(held/4, func() {
			a.begin() // the next one is under way
			a.end(sarama.ByteEncoder("4"), journal.Place{Offset: 4, At: 7}, nil)
		})
		if d := heldFor(tl); d != held/4 {
			t.Errorf("held for %v", d)
		}
	})
}

func TestATailWithoutReadersOfLogsIsNotHeldBack(t *testing.T) {
	tl := newTail(nil, tailKey{}, nil)
	tl.feeds = []*feed{{}}
	if _, own := tl.appends(); own || tl.expects() {
		t.Error("it expects something")
	}
}
