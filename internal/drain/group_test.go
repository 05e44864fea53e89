package drain_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/internal/drain"
)

func TestAnEmptyGroupClosesAtOnce(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var g drain.Group
	if err := g.Close(ended); err != nil {
		t.Errorf("with nothing to wait for: %v", err)
	}
}

func TestAClosedGroupRefusesWork(t *testing.T) {
	var g drain.Group
	if !g.Add() || g.Len() != 1 {
		t.Fatal("an open group refuses work")
	}
	g.Done()
	for range 2 {
		if err := g.Close(t.Context()); err != nil || g.Add() || g.Len() != 0 {
			t.Errorf("closed: %v, %d pieces", err, g.Len())
		}
	}
}

func TestCloseWaitsForTheLastPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g drain.Group
		for i := range 3 {
			g.Add()
			time.AfterFunc(time.Duration(i+1)*time.Second, g.Done)
		}
		began := time.Now()
		var wg sync.WaitGroup
		for range 2 { // both of those who close wait
			wg.Go(func() {
				if err := g.Close(t.Context()); err != nil || time.Since(began) != 3*time.Second {
					t.Errorf("closed after %v: %v", time.Since(began), err)
				}
			})
		}
		wg.Wait()
	})
}

func TestCloseGivesUpWithItsContextAndMayBeCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g drain.Group
		g.Add()
		time.AfterFunc(time.Minute, g.Done)
		why := errors.New("shutdown takes too long")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		if err := g.Close(ctx); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if g.Add() {
			t.Error("a group that is closing takes work")
		}
		if err := g.Close(t.Context()); err != nil || g.Len() != 0 {
			t.Errorf("the second time: %v", err)
		}
	})
}

func TestAParentWaitsForTheWorkOfItsChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var parent, a, b drain.Group
		a.Under(&parent)
		b.Under(&parent)
		a.Add()
		b.Add()
		time.AfterFunc(time.Second, a.Done)
		time.AfterFunc(time.Hour, b.Done)
		began := time.Now()
		if err := a.Close(t.Context()); err != nil || time.Since(began) != time.Second {
			t.Errorf("a child waits for its sibling: %v after %v", err, time.Since(began))
		}
		if a.Add() || parent.Len() != 1 {
			t.Errorf("what a closed child refuses counts: %d", parent.Len())
		}
		if !b.Add() {
			t.Error("a closed child closes its sibling")
		}
		b.Done()
		if err := parent.Close(t.Context()); err != nil || time.Since(began) != time.Hour {
			t.Errorf("the parent was closed after %v: %v", time.Since(began), err)
		}
		if b.Add() || b.Len() != 0 {
			t.Error("a child takes work that its parent refuses")
		}
	})
}

// What is taken is waited for, however additions and the end meet.
func TestNothingIsLeftBehindInACrowd(t *testing.T) {
	var parent, g drain.Group
	g.Under(&parent)
	var running atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 100 {
				if !g.Add() {
					return
				}
				running.Add(1)
				go func() {
					running.Add(-1)
					g.Done()
				}()
			}
		})
	}
	for _, c := range []*drain.Group{&g, &parent} {
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d pieces run on after the end of Close", n)
	}
	wg.Wait()
	if g.Len() != 0 || parent.Len() != 0 {
		t.Errorf("%d and %d pieces are left", g.Len(), parent.Len())
	}
}
