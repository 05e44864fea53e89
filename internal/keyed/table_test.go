package keyed

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"pgregory.net/rapid"
)

func TestATableOfCollidingHashesLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 16
		table := newTable[int](size)
		have := make(map[string]*entry[int])
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				if len(have) == size-1 { // fuller than a shard lets it become
					return
				}
				key := strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "key"))
				if have[key] == nil {
					have[key] = &entry[int]{key: key, hash: rapid.Uint32Range(0, size+3).Draw(t, "hash")}
					table.insert(have[key])
				}
			},
			"remove": func(t *rapid.T) {
				if len(have) == 0 {
					return
				}
				key := rapid.SampledFrom(keysOf(have)).Draw(t, "key")
				if !table.remove(have[key]) || table.remove(have[key]) {
					t.Fatalf("%q was not removed once", key)
				}
				delete(have, key)
			},
			"": func(t *rapid.T) {
				for key, e := range have {
					if table.find(e.hash, key) != e {
						t.Fatalf("%q is lost", key)
					}
					if table.resized(2*size).find(e.hash, key) != e {
						t.Fatalf("%q is lost on the move", key)
					}
				}
				if table.find(3, "absent") != nil {
					t.Fatal("found what is not there")
				}
			},
		})
	})
}

// keysOf is in an order that rapid can repeat.
func keysOf(have map[string]*entry[int]) []string {
	var keys []string
	for i := range 100 {
		if key := strconv.Itoa(i); have[key] != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestAShardGrowsAndShrinksWithItsKeys(t *testing.T) {
	m := New(Config{MaxKeys: 1000}, func(string) int { return 0 }, Hooks[int]{})
	if len(m.shards) != 2 {
		t.Fatalf("%d shards", len(m.shards))
	}
	size := func() (n int) {
		for i := range m.shards {
			n += len(m.shards[i].table.Load().slots)
		}
		return n
	}
	for i := range 1000 {
		m.Get(strconv.Itoa(i), 1)
	}
	if size() < 2000 {
		t.Errorf("%d slots for 1000 keys", size())
	}
	for i := range 1000 {
		m.Delete(strconv.Itoa(i))
	}
	if size() > 2*2*minSlots {
		t.Errorf("%d slots for no keys", size())
	}
}

func TestAReadersMissIsLookedUpAgainUnderTheLock(t *testing.T) {
	built := 0
	m := New(Config{MaxKeys: 10}, func(string) int { built++; return built }, Hooks[int]{})
	m.Get("a", 1)
	s := &m.shards[0]
	whole := s.table.Load()
	s.mu.Lock() // a writer is at work, and no reader finds anything
	s.table.Store(newTable[int](minSlots))
	var wg sync.WaitGroup
	wg.Go(func() {
		if v, ok := m.Peek("a"); !ok || v != 1 {
			t.Errorf("Peek found %d, %v", v, ok)
		}
	})
	wg.Go(func() {
		if v := m.Get("a", 1<<40); v != 1 {
			t.Errorf("Get built value number %d", v)
		}
	})
	time.Sleep(5 * time.Millisecond) // long enough for both to have missed it
	s.table.Store(whole)
	s.mu.Unlock()
	wg.Wait()
	_, hash := m.home("a")
	if s.find(hash, "a").lastUsed() != stampOf(1<<40)|again {
		t.Error("its use was not noted")
	}
}

// bases are points from which time may count: the smallest, that of a process,
// and those where stamps wrap around.
var bases = []backstay.Instant{0, backstay.Now(), 1<<61 - backstay.Instant(6*tick), 1<<60 - backstay.Instant(6*tick), 1 << 62}

func TestStamps(t *testing.T) {
	for _, base := range bases {
		base &^= backstay.Instant(tick - 1) // whole ticks
		var e entry[int]
		e.used.Store(uint32(stampOf(base.Add(5 * tick))))
		once := e.lastUsed()
		e.touch(base.Add(5 * tick))
		if e.lastUsed().since(once) <= 0 {
			t.Error("a key used again in the same tick is no younger than one used once")
		}
		e.touch(base.Add(3 * tick))
		if e.lastUsed().since(once) <= 0 {
			t.Error("an old reading set the stamp back")
		}
		if stampOf(base.Add(6*tick)).since(e.lastUsed()) <= 0 {
			t.Error("a key created a tick later is no younger")
		}
	}
}

func TestAKeyIsIdleAfterItsTimeAndNotBefore(t *testing.T) {
	for _, c := range []struct {
		name             string
		used, now, after time.Duration
		idle             bool
	}{
		{"just used", 0, 0, tick, false},
		{"used for less than the limit ago", 5 * tick, 6 * tick, tick, false},
		{"used for the limit ago, to the nanosecond", 6*tick - 1, 7*tick - 1, tick, false},
		{"used for the limit and two ticks ago", 5 * tick, 7 * tick, tick, true},
		{"a limit between two ticks is rounded up", 5*tick + tick/2, 7*tick - 1, tick + tick/2, false},
		{"and is over within two ticks", 5*tick + tick/2, 9 * tick, tick + tick/2, true},
		{"a limit shorter than a tick", 5 * tick, 7 * tick, 1, true},
		{"a limit longer than the process lives", 0, 1 << 50, 1 << 62, false},
		{"used later than now, by a reading that is older", 7 * tick, 5 * tick, tick, false},
	} {
		for _, base := range bases {
			base &^= backstay.Instant(tick - 1)
			for _, reuse := range []stamp{0, again} {
				used := stampOf(base.Add(c.used)) | reuse
				if got := stampOf(base.Add(c.now)).since(used) > halfTicks(c.after); got != c.idle {
					t.Errorf("%s, from %d: idle is %v", c.name, base, got)
				}
			}
		}
	}
}
