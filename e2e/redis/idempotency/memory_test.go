package idempotency_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// A Redis that is full, and told not to evict, refuses new keys; work that has
// begun can still be marked as done.
func TestAFullRedisRefusesNewKeysAndLearnsThatWorkWasDone(t *testing.T) {
	server := service.StartRedis(t, "--maxmemory-policy", "noeviction")
	w := watch(t, server, redis.Config{}, idempotency.GuardConfig{})
	claim := owner("k")
	if _, err := w.store.Begin(t.Context(), claim, idempotency.Fingerprint{}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, server.Addr).ConfigSet(t.Context(), "maxmemory", "1kb").Err(); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.guard.Run(t.Context(), request("new", "body"), never(t))
	if refused, _ := errors.AsType[*idempotency.Error](err); !errors.Is(err, idempotency.ErrStoreFull) || refused == nil || refused.RetryAfter == 0 {
		t.Errorf("a new key: %v, want ErrStoreFull with a time to come back", err)
	}
	if err := w.store.Renew(t.Context(), claim, time.Minute); err != nil {
		t.Errorf("Renew: %v", err)
	}
	if err := w.store.Complete(t.Context(), claim, idempotency.Record{Answer: []byte("answer")}, time.Minute); !errors.Is(err, idempotency.ErrStoreFull) {
		t.Errorf("Complete with an answer: %v, want ErrStoreFull", err)
	}
	if got, err := w.store.Begin(t.Context(), owner("k"), idempotency.Fingerprint{}, time.Minute); err != nil || got.State != idempotency.InFlight {
		t.Errorf("after a refused answer: %v, %v, want it to be in flight", got.State, err)
	}
	if err := w.store.Complete(t.Context(), claim, idempotency.Record{Omitted: true}, time.Minute); err != nil {
		t.Errorf("Complete without an answer: %v", err)
	}
	if got, err := w.store.Begin(t.Context(), owner("k"), idempotency.Fingerprint{}, time.Minute); err != nil || !got.Record.Omitted {
		t.Errorf("then: %+v, %v, want a record without an answer", got, err)
	}
	if told := w.kinds(); !told[idempotency.StoreFailed] {
		t.Errorf("told %v", told)
	}
}

// The table of sizes in the documentation of the store is from this test. A
// tenth more passes: allocators and versions of Redis differ by a few bytes.
func TestAKeyTakesNoMoreMemoryThanDocumented(t *testing.T) {
	for name, c := range map[string]struct{ answer, documented int }{
		"in flight":                 {-1, 240},
		"an answer of 16 bytes":     {16, 270},
		"an answer of 200 bytes":    {200, 640},
		"an answer of 2,000 bytes":  {2000, 2470},
		"an answer of 20,000 bytes": {20000, 20900},
	} {
		t.Run(name, func(t *testing.T) {
			server := service.StartRedis(t)
			client, store := connect(t, server.Addr), open(t, server.Addr, redis.Config{})
			const keys = 1 << 12 // a power of two: the tables of keys are as full as they get
			fill(t, store, 1, c.answer)
			before := usedMemory(t, client)
			fill(t, store, keys-1, c.answer)
			each := int(usedMemory(t, client)-before) / (keys - 1)
			t.Logf("%d bytes a key", each)
			if most := c.documented + c.documented/10; each > most || each < 100 {
				t.Errorf("a key takes %d bytes, want at most %d", each, most)
			}
		})
	}
}

// fill makes keys, in flight, or with an answer of so many bytes.
func fill(t *testing.T, store *redis.Store, keys, answer int) {
	t.Helper()
	for range keys {
		claim := owner(idempotency.NewKey())
		_, err := store.Begin(t.Context(), claim, idempotency.Fingerprint{}, time.Hour)
		if err == nil && answer >= 0 {
			err = store.Complete(t.Context(), claim, idempotency.Record{Answer: make([]byte, answer)}, time.Hour)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// usedMemory is what the server has allocated, in bytes.
func usedMemory(t *testing.T, client *goredis.Client) (bytes int64) {
	t.Helper()
	for line := range strings.Lines(client.Info(t.Context(), "memory").Val()) {
		_, _ = fmt.Sscanf(line, "used_memory:%d", &bytes)
	}
	return bytes
}
