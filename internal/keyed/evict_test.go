package keyed_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestTheBoundHoldsForAnyNumberOfKeys(t *testing.T) {
	for _, c := range []struct{ bound, keys int }{
		{1, 1000}, {2, 1000}, {7, 1000}, {600, 10_000}, {0, 200_000},
	} {
		t.Run(fmt.Sprintf("%d keys, at most %d", c.keys, c.bound), func(t *testing.T) {
			if testkit.Race && c.keys > 10_000 {
				t.Skip("many creations take long under the race detector")
			}
			evicted := 0
			m := keyed.New(keyed.Config{MaxKeys: c.bound}, func(string) int { return 0 },
				keyed.Hooks[int]{Evicted: func(string, int) { evicted++ }})
			bound := c.bound
			if bound == 0 {
				bound = keyed.DefaultMaxKeys
			}
			for i := range c.keys {
				m.Get(strconv.Itoa(i), backstay.Instant(i)*second/1000)
				if m.Len() > bound {
					t.Fatalf("%d keys after %d creations", m.Len(), i+1)
				}
			}
			if m.Len() != bound || evicted != c.keys-bound {
				t.Errorf("%d keys left, %d evicted", m.Len(), evicted)
			}
		})
	}
}

func TestTheLeastRecentlyUsedKeyGoesFirst(t *testing.T) {
	m := newCounted(keyed.Config{MaxKeys: 10})
	for i := range 10 {
		m.Get(strconv.Itoa(i), backstay.Instant(2*i)*second)
	}
	m.Get("0", 30*second)   // now 1 is the oldest
	m.Get("new", 32*second) // the bound
	if _, ok := m.Peek("1"); ok {
		t.Error("the least recently used key is still there")
	}
	for _, k := range []string{"0", "2", "9", "new"} {
		if _, ok := m.Peek(k); !ok {
			t.Errorf("%q is gone", k)
		}
	}
}

func TestPeekDoesNotCountAsUse(t *testing.T) {
	m := newCounted(keyed.Config{MaxKeys: 2})
	m.Get("old", second)
	m.Get("young", 5*second)
	m.Peek("old")
	m.Get("new", 10*second)
	if _, ok := m.Peek("old"); ok {
		t.Error("a look kept the key alive")
	}
}

func TestAFloodOfRandomKeysDoesNotPushOutThoseAtWork(t *testing.T) {
	m := newCounted(keyed.Config{MaxKeys: 1000})
	working := hosts(100)
	for _, k := range working {
		m.Get(k, second)
	}
	for i := range 30_000 {
		now := second + backstay.Instant(i)*second/20_000 // 20,000 new keys a second
		m.Get(strconv.Itoa(i), now)
		m.Get(working[i%len(working)], now)
	}
	for i, k := range working {
		if v, ok := m.Peek(k); !ok || v.nth != i+1 {
			t.Fatalf("%q was pushed out", k)
		}
	}
}

func TestIdleKeysAreGivenUpAsOthersAreCreated(t *testing.T) {
	const idle = 10 * time.Minute
	m := newCounted(keyed.Config{})
	for _, k := range hosts(1000) {
		m.Get(k, second)
	}
	used, busy := m.Get("used", second), m.Get("busy", second)
	busy.hot = true
	now := second.Add(idle)
	for i := range 2000 {
		m.Get("early "+strconv.Itoa(i), now)
	}
	if m.Len() != 3002 {
		t.Fatalf("%d keys left of 3002, before the time", m.Len())
	}
	m.Get("used", now)
	now = now.Add(3 * time.Second)
	for i := range 2000 {
		m.Get("late "+strconv.Itoa(i), now)
	}
	if n := m.Len(); n < 4002 || n > 4100 {
		t.Errorf("%d keys left, want those not idle, 4002, and few more", n)
	}
	if v, _ := m.Peek("used"); v != used {
		t.Error("a key in use was given up")
	}
	if v, _ := m.Peek("busy"); v != busy {
		t.Error("a busy key was given up")
	}
}

func TestAFewCreationsAfterALullFreeTheMemoryOfMany(t *testing.T) {
	m := newCounted(keyed.Config{})
	for _, k := range hosts(10_000) {
		m.Get(k, second)
	}
	now := second.Add(time.Hour)
	for i := range 6000 {
		m.Get(strconv.Itoa(i%3), now) // the same three again and again
		m.Delete(strconv.Itoa(i % 3))
	}
	if n := m.Len(); n > 1000 {
		t.Errorf("%d idle keys survived 6000 creations", n)
	}
}

func TestABusyKeyNeverGoesAndCostsOthersLittleRoom(t *testing.T) {
	for _, c := range []struct{ bound, busy int }{{50, 49}, {100, 99}, {1000, 990}, {1000, 1000}} {
		t.Run(fmt.Sprintf("%d of %d busy", c.busy, c.bound), func(t *testing.T) {
			m := newCounted(keyed.Config{MaxKeys: c.bound, IdleAfter: time.Minute})
			for _, k := range hosts(c.busy) {
				m.Get(k, second).hot = true
			}
			most := 0
			for i := range 3_000 {
				m.Get(strconv.Itoa(i), second.Add(time.Duration(i)*time.Second/100))
				most = max(most, m.Len())
			}
			if limit := c.bound + c.bound/50 + 5; most > limit {
				t.Errorf("up to %d keys, want at most %d", most, limit)
			}
			for i, k := range hosts(c.busy) {
				if v, ok := m.Peek(k); !ok || v.nth != i+1 {
					t.Fatalf("%q, busy, was given up", k)
				}
			}
		})
	}
}

func TestWhereAllAreBusyTheMapGrowsAndLaterShrinksToItsBound(t *testing.T) {
	m := newCounted(keyed.Config{MaxKeys: 1000})
	var all []*counted
	for _, k := range hosts(3000) {
		v := m.Get(k, second)
		v.hot = true
		all = append(all, v)
	}
	if m.Len() != 3000 {
		t.Fatalf("%d keys, want all 3000", m.Len())
	}
	for _, v := range all {
		v.hot = false
	}
	working := all[:200]
	for _, v := range working {
		m.Get(v.key, 5*second)
	}
	for i := range 1000 { // each creates one and may give up four
		m.Get(strconv.Itoa(i), 5*second)
	}
	if m.Len() != 1000 {
		t.Errorf("%d keys, want 1000", m.Len())
	}
	lost := 0
	for _, v := range working {
		if got, _ := m.Peek(v.key); got != v {
			lost++
		}
	}
	if lost > 10 { // the least recently used of a sample is not that of all
		t.Errorf("%d of 200 keys at work were given up with the rest", lost)
	}
}

func TestHooksMayUseTheMap(t *testing.T) {
	var m *keyed.Map[int]
	var told []string
	m = keyed.New(keyed.Config{MaxKeys: 2}, func(string) int { return 0 }, keyed.Hooks[int]{
		Busy: func(int) bool { m.Peek("a"); return false },
		Evicted: func(key string, _ int) {
			told = append(told, key)
			if _, ok := m.Peek(key); ok {
				t.Errorf("%q is still there", key)
			}
			m.Delete("nobody")
			for range m.Range {
				continue
			}
		},
	})
	for i, k := range []string{"a", "b", "c", "d"} {
		m.Get(k, backstay.Instant(i+1)*2*second)
	}
	if fmt.Sprint(told) != "[a b]" {
		t.Errorf("evicted %v, want a, then b", told)
	}
}

func TestAHookThatPanicsLeavesTheMapWhole(t *testing.T) {
	fail := true
	m := keyed.New(keyed.Config{MaxKeys: 1}, func(key string) string { return key }, keyed.Hooks[string]{
		Evicted: func(string, string) {
			if fail {
				panic("no luck")
			}
		},
	})
	m.Get("a", second)
	func() {
		defer func() { _ = recover() }()
		m.Get("b", 3*second)
		t.Error("the panic did not come through")
	}()
	fail = false
	if v := m.Get("c", 5*second); v != "c" || m.Len() != 1 {
		t.Errorf("got %q, %d keys", v, m.Len())
	}
}

func TestAKeyUsedWhileItWasBeingJudgedStays(t *testing.T) {
	var m *keyed.Map[string]
	m = keyed.New(keyed.Config{MaxKeys: 2}, func(key string) string { return key }, keyed.Hooks[string]{
		Busy: func(v string) bool {
			if v == "a" {
				m.Get("a", 9*second) // somebody comes just now
			}
			return false
		},
	})
	m.Get("a", second)
	m.Get("b", 3*second)
	m.Get("c", 9*second)
	if _, ok := m.Peek("a"); !ok {
		t.Error("a was given up although it was just used")
	}
	if _, ok := m.Peek("b"); ok {
		t.Error("b was kept instead of the next younger")
	}
}
