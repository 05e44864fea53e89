package idempotency_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// The behaviour that all stores share is in package idempotencytest; here is
// what only Memory does.

func claimOf(n int) idempotency.Claim {
	return idempotency.Claim{Key: fmt.Sprint("key-", n), Owner: idempotency.Token{byte(n), byte(n >> 8)}}
}

func bounded(t *testing.T, c idempotency.MemoryConfig) *idempotency.Memory {
	t.Helper()
	m, err := idempotency.NewMemory(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// keep begins and completes key n.
func keep(t *testing.T, m *idempotency.Memory, n int, answer string, retention time.Duration) {
	t.Helper()
	if _, err := m.Begin(t.Context(), claimOf(n), idempotency.Fingerprint{}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := m.Complete(t.Context(), claimOf(n), idempotency.Record{Answer: []byte(answer)}, retention); err != nil {
		t.Fatal(err)
	}
}

func TestMemoryIsBoundedInBytes(t *testing.T) {
	m := bounded(t, idempotency.MemoryConfig{MaxBytes: 10_000})
	keep(t, m, 1, strings.Repeat("x", 20_000), time.Hour) // what has begun may leave its answer
	_, err := m.Begin(t.Context(), claimOf(2), idempotency.Fingerprint{}, time.Minute)
	if !errors.Is(err, idempotency.ErrStoreFull) {
		t.Errorf("got %v, want ErrStoreFull", err)
	}
	m = bounded(t, idempotency.MemoryConfig{MaxBytes: 10_000})
	n := 0
	for ; n < 1000 && err != nil; n++ {
		if _, e := m.Begin(t.Context(), claimOf(n), idempotency.Fingerprint{}, time.Minute); e != nil {
			break
		}
	}
	if n < 10 || n > 40 {
		t.Errorf("%d keys without answers fit into 10,000 bytes, want about 37", n)
	}
}

func TestMemoryGetsItsBytesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, idempotency.MemoryConfig{MaxBytes: 10_000})
		for n := range 100 {
			keep(t, m, n, strings.Repeat("x", 20_000), time.Second)
			time.Sleep(time.Second)
			if _, err := m.Begin(t.Context(), claimOf(n), idempotency.Fingerprint{}, time.Minute); err != nil {
				t.Fatalf("round %d: %v", n, err)
			}
			if err := m.Release(t.Context(), claimOf(n)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestMemoryDropsWhatHasExpiredAsNewKeysCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, idempotency.MemoryConfig{})
		for n := range 1000 {
			keep(t, m, n, "answer", time.Duration(n%7+1)*time.Second)
		}
		time.Sleep(10 * time.Second)
		for n := range 600 {
			keep(t, m, 1000+n, "answer", time.Hour)
		}
		if got := m.Len(); got != 600 {
			t.Errorf("%d records are held, want the 600 that are alive", got)
		}
	})
}

func TestMemoryFindsWhatHasExpiredBehindWhatLivesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, idempotency.MemoryConfig{MaxRecords: 8})
		for n := range 8 {
			if _, err := m.Begin(t.Context(), claimOf(n), idempotency.Fingerprint{}, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 8 { // every other one ends much later, the first among them
			retention := time.Duration(1-n%2)*time.Hour + time.Second
			if err := m.Complete(t.Context(), claimOf(n), idempotency.Record{}, retention); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		for n := range 4 {
			keep(t, m, 100+n, "answer", time.Hour)
		}
		if _, err := m.Begin(t.Context(), claimOf(200), idempotency.Fingerprint{}, time.Second); !errors.Is(err, idempotency.ErrStoreFull) {
			t.Errorf("got %v, want ErrStoreFull", err)
		}
	})
}

func TestMemoryDropsAsManyAsItTakesToMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, idempotency.MemoryConfig{MaxBytes: 10_000})
		for n := range 10 {
			keep(t, m, n, "small", time.Second)
		}
		keep(t, m, 10, strings.Repeat("x", 20_000), 2*time.Second)
		time.Sleep(3 * time.Second)
		if _, err := m.Begin(t.Context(), claimOf(11), idempotency.Fingerprint{}, time.Second); err != nil {
			t.Errorf("got %v, though all has expired", err)
		}
	})
}

func TestMemoryNeverDropsWhatIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, idempotency.MemoryConfig{MaxRecords: 50})
		begun := 0
		for n := range 200 {
			_, err := m.Begin(t.Context(), claimOf(n), idempotency.Fingerprint{}, time.Minute)
			if err == nil {
				begun++
			} else if !errors.Is(err, idempotency.ErrStoreFull) {
				t.Fatal(err)
			}
		}
		if begun != 50 || m.Len() != 50 {
			t.Fatalf("%d began and %d are held, want 50", begun, m.Len())
		}
		for n := range 50 {
			if err := m.Renew(t.Context(), claimOf(n), time.Minute); err != nil {
				t.Errorf("key %d: %v", n, err)
			}
		}
	})
}

func TestARetentionWithoutEndIsNoEndInThePast(t *testing.T) {
	m := bounded(t, idempotency.MemoryConfig{})
	keep(t, m, 1, "answer", math.MaxInt64)
	got, err := m.Begin(t.Context(), claimOf(1), idempotency.Fingerprint{}, math.MaxInt64)
	if err != nil || got.State != idempotency.Completed {
		t.Errorf("got %v, %v, want completed", got.State, err)
	}
}

func TestAWaiterSleepsThroughRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := bounded(t, idempotency.MemoryConfig{}), claimOf(1)
		if _, err := m.Begin(t.Context(), c, idempotency.Fingerprint{}, 3*time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var waits sync.WaitGroup
		for range 1000 {
			waits.Go(func() {
				if err := m.Wait(t.Context(), c.Key); err != nil || time.Since(began) != 12*time.Second {
					t.Errorf("woke after %v, %v, want 12s", time.Since(began), err)
				}
			})
		}
		for range 9 { // the last renewal is after 9 s, for 3 s
			time.Sleep(time.Second)
			if err := m.Renew(t.Context(), c, 3*time.Second); err != nil {
				t.Error(err)
			}
		}
		waits.Wait()
	})
}

// TestManyGoroutinesShareOneMemory: each of many keys is worked on by one
// owner at a time, whatever leases pass and releases come meanwhile.
func TestManyGoroutinesShareOneMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, idempotency.MemoryConfig{})
		var inside [20]sync.Mutex
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				key := i % len(inside)
				c := idempotency.Claim{Key: claimOf(key).Key, Owner: claimOf(i).Owner}
				for {
					got, err := m.Begin(t.Context(), c, idempotency.Fingerprint{}, time.Second)
					if err != nil {
						t.Error(err)
						return
					}
					if got.State == idempotency.Started {
						break
					}
					if err := m.Wait(t.Context(), c.Key); err != nil {
						t.Error(err)
						return
					}
				}
				if !inside[key].TryLock() {
					t.Error("two owners at once")
					return
				}
				time.Sleep(time.Duration(i%3) * time.Millisecond)
				inside[key].Unlock()
				if i%5 > 0 { // one in five is killed
					if err := m.Release(t.Context(), c); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
}

func TestMemoryConfigTellsAllItsFaults(t *testing.T) {
	err := idempotency.MemoryConfig{MaxRecords: -1, MaxBytes: math.MinInt64}.Validate()
	for _, path := range []string{"max_records", "max_bytes"} {
		if err == nil || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("%v does not tell of %s", err, path)
		}
	}
	if _, err := idempotency.NewMemory(idempotency.MemoryConfig{MaxRecords: math.MaxInt}); err == nil ||
		!strings.HasPrefix(err.Error(), "idempotency.memory.max_records: ") {
		t.Errorf("NewMemory: %v", err)
	}
	if err := (idempotency.MemoryConfig{MaxRecords: 1, MaxBytes: 1}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestStatesHaveNames(t *testing.T) {
	for state, want := range map[idempotency.State]string{
		0: "unknown", idempotency.Started: "started", idempotency.InFlight: "in flight",
		idempotency.Completed: "completed", idempotency.Mismatched: "mismatched", 200: "unknown",
	} {
		if state.String() != want {
			t.Errorf("%d is %q, want %q", state, state, want)
		}
	}
}
