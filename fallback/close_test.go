package fallback_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/fallback"
)

func TestCloseCancelsRefreshesAndWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		l := refreshing(t, fallback.CacheConfig{}, func(ctx context.Context, _ ask) (*reply, error) {
			<-ctx.Done()
			time.Sleep(100 * time.Millisecond) // on its way out
			ended.Store(true)
			return nil, ctx.Err()
		})
		stale(t, l, "k")
		begin := time.Now()
		var closers sync.WaitGroup
		for range 3 {
			closers.Go(func() {
				if err := l.Close(t.Context()); err != nil || !ended.Load() {
					t.Errorf("%v, ended %v", err, ended.Load())
				}
			})
		}
		closers.Wait()
		if took := time.Since(begin); took != 100*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

func TestCloseGivesUpWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, scope := watched()
		free := make(chan struct{})
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			<-free
			return nil, nil
		}, scope)
		stale(t, l, "k")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := l.Close(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "prices") {
			t.Errorf("got %v", err)
		}
		close(free)
		if err := l.Close(t.Context()); err != nil {
			t.Errorf("got %v", err)
		}
	})
}

func TestAClosedLadderAnswersButRefreshesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			t.Error("refreshed")
			return nil, nil
		})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 { // there is nothing to wait for, and nothing left to chance
			if err := l.Close(gone); err != nil {
				t.Error(err)
			}
		}
		if got := stale(t, l, "k"); got != "old" {
			t.Errorf("got %q", got)
		}
		synctest.Wait()
	})
}
