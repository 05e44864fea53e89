package keyed_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
)

// lived is a value that knows whether it is in the map.
type lived struct {
	key  string
	busy atomic.Int32
	gone atomic.Bool
}

func TestKeysComeAndGoUnderManyGoroutines(t *testing.T) {
	const bound, workers, rounds = 300, 8, 5_000
	var alive atomic.Int64
	m := keyed.New(keyed.Config{MaxKeys: bound}, func(key string) *lived {
		alive.Add(1)
		return &lived{key: key}
	}, keyed.Hooks[*lived]{
		Busy: func(v *lived) bool { return v.busy.Load() > 0 },
		Evicted: func(key string, v *lived) {
			alive.Add(-1)
			if v.key != key || v.gone.Swap(true) {
				t.Errorf("%q was evicted twice, or with the value of %q", key, v.key)
			}
		},
	})
	pinned := m.Get("pinned", 1)
	pinned.busy.Store(1)
	var clock atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				key := strconv.Itoa(rand.IntN(3 * bound))
				switch v := m.Get(key, backstay.Instant(clock.Add(1e6))); {
				case v.key != key:
					t.Errorf("%q has the value of %q", key, v.key)
				case rand.IntN(50) == 0:
					if v, ok := m.Delete(key); ok {
						alive.Add(-1)
						v.gone.Store(true)
					}
				}
				if n := m.Len(); n > bound+workers {
					t.Errorf("%d keys", n)
				}
			}
		})
	}
	wg.Wait()
	if int64(m.Len()) != alive.Load() {
		t.Errorf("Len is %d, and %d values are alive", m.Len(), alive.Load())
	}
	for k, v := range m.Range {
		if v.gone.Load() || v.key != k {
			t.Errorf("%q has a value that is gone, or not its own", k)
		}
	}
	if v, _ := m.Peek("pinned"); v != pinned {
		t.Error("the busy key is gone")
	}
}

func TestTwoGetsOfOneKeyAgreeWhileOthersMakeRoom(t *testing.T) {
	const rounds, workers = 500, 8
	m := keyed.New(keyed.Config{}, func(string) *int { return new(int) }, keyed.Hooks[*int]{})
	var got [workers][rounds]*int
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds { // tables grow under the readers
				got[w][i] = m.Get(strconv.Itoa(i), second)
			}
		})
	}
	wg.Wait()
	for i := range rounds {
		for w := range workers {
			if got[w][i] != got[0][i] {
				t.Fatalf("two values for key %d", i)
			}
		}
	}
}

func TestAKeyIsFoundWhileItsNeighboursMove(t *testing.T) {
	m := keyed.New(keyed.Config{MaxKeys: 100}, func(string) int { return 0 }, keyed.Hooks[int]{})
	for i := range 3 {
		m.Get("pinned"+strconv.Itoa(i), second)
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		defer done.Store(true)
		for i := range 50_000 {
			m.Get(strconv.Itoa(i), second)
			if i > 0 {
				m.Delete(strconv.Itoa(i - 1))
			}
		}
	})
	for i := 0; !done.Load(); i++ {
		if _, ok := m.Peek("pinned" + strconv.Itoa(i%3)); !ok {
			t.Error("a key that was always there was not found")
			break
		}
	}
	wg.Wait()
}
