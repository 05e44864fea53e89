package idempotency_test

import (
	"context"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/idempotencytest"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// same opens the same store for every case of the suite.
func same(store idempotency.Store) func(*testing.T) idempotency.Store {
	return func(*testing.T) idempotency.Store { return store }
}

func TestTheStoreConforms(t *testing.T) {
	t.Parallel() // it waits most of the time
	server := service.StartRedis(t)
	idempotencytest.Run(t, same(open(t, server.Addr, redis.Config{})), idempotencytest.Options{})
}

func TestTheStoreConformsWhereWorkIsLetThrough(t *testing.T) {
	t.Parallel() // it waits most of the time
	server := service.StartRedis(t)
	store := open(t, server.Addr, redis.Config{WhenDown: redis.LetThrough})
	idempotencytest.Run(t, same(store), idempotencytest.Options{})
}

// startCluster starts a cluster of one server, which has all slots, and
// connects to it.
func startCluster(t *testing.T) *goredis.ClusterClient {
	t.Helper()
	server := service.StartRedis(t, "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
	admin := connect(t, server.Addr)
	if err := admin.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(admin.ClusterInfo(t.Context()).Val(), "cluster_state:ok") {
		time.Sleep(10 * time.Millisecond) // the time-out of the tests bounds it
	}
	client := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{server.Addr}, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestTheStoreConformsOnACluster(t *testing.T) {
	t.Parallel() // it waits most of the time
	idempotencytest.Run(t, same(over(t, startCluster(t), redis.Config{})), idempotencytest.Options{})
}

// The names are those that are in Redis, and the slots those that it computes.
func TestNoChoiceOfKeysPilesThemUpInOneSlot(t *testing.T) {
	client := startCluster(t)
	store := over(t, client, redis.Config{})
	const keys = 64
	for i := range keys {
		claim := owner("{tenant}" + string(rune('0'+i)))
		if _, err := store.Begin(t.Context(), claim, idempotency.Fingerprint{}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	slots := map[int64]bool{}
	names, err := client.Keys(t.Context(), redis.DefaultPrefix+"*").Result()
	for _, name := range names {
		slots[slot(t, client, name)] = true
	}
	if err != nil || len(names) != keys || len(slots) < keys/2 {
		t.Errorf("%d keys lie in %d slots, %v, want %d in about as many", len(names), len(slots), err, keys)
	}
}

func slot(t *testing.T, client *goredis.ClusterClient, name string) int64 {
	t.Helper()
	n, err := client.ClusterKeySlot(context.Background(), name).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
