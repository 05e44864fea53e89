package actors_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/backstay-go/backstay/actors/actorstest"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/redis"
	"github.com/backstay-go/backstay/e2e/internal/service"
)

func TestMain(m *testing.M) {
	logging.Disable() // it reports every connection that a killed server refuses
	os.Exit(m.Run())
}

func open(tb testing.TB, addr, prefix string) *redis.Store {
	tb.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: addr, ContextTimeoutEnabled: true, DialerRetries: 1, MaxRetries: 1})
	tb.Cleanup(func() { _ = client.Close() })
	s, err := redis.New(redis.Config{Prefix: prefix}, client)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestTheStoreOnRedisKeepsThePromises(t *testing.T) {
	server := service.StartRedis(t)
	n := 0
	actorstest.TestStateStore(t, func(t *testing.T) journal.StateStore {
		n++
		return open(t, server.Addr, fmt.Sprintf("test-%d:", n))
	})
}

var p = journal.Partition{Type: "account", Index: 3}

func row(value string) journal.Change {
	return journal.Change{Actor: "a", Cells: []journal.Cell{{Name: "x", Value: []byte(value)}}}
}

// What a new owner finds is what its predecessor, another process, has saved.
func TestTwoProcessesShareTheRows(t *testing.T) {
	server := service.StartRedis(t)
	first, second := open(t, server.Addr, ""), open(t, server.Addr, "")
	ctx := t.Context()
	if err := first.Save(ctx, p, 10, []journal.Change{row("old")}); err != nil {
		t.Fatal(err)
	}
	if err := second.Save(ctx, p, 20, []journal.Change{row("new")}); err != nil {
		t.Fatal(err)
	}
	if err := first.Save(ctx, p, 15, []journal.Change{row("late")}); !errors.Is(err, redis.ErrOutdated) {
		t.Errorf("a late save: %v", err)
	}
	if r, _, err := first.Load(ctx, p, "a"); err != nil || r.At != 20 || string(r.Cells[0].Value) != "new" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestARedisThatHasForgottenIsNoticed(t *testing.T) {
	server := service.StartRedis(t)
	s := open(t, server.Addr, "")
	ctx := t.Context()
	if err := s.Save(ctx, p, 10, []journal.Change{row("1")}); err != nil {
		t.Fatal(err)
	}
	wipe := goredis.NewClient(&goredis.Options{Addr: server.Addr})
	defer func() { _ = wipe.Close() }()
	if err := wipe.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Load(ctx, p, "a"); !errors.Is(err, redis.ErrLost) {
		t.Errorf("Load: %v", err)
	}
	if err := s.Save(ctx, p, 20, []journal.Change{row("2")}); !errors.Is(err, redis.ErrLost) {
		t.Errorf("Save: %v", err)
	}
}

// BenchmarkSave saves 500 actors, which is one round trip.
func BenchmarkSave(b *testing.B) {
	s := open(b, service.StartRedis(b).Addr, "")
	changes := make([]journal.Change, 500)
	for i := range changes {
		changes[i] = journal.Change{Actor: fmt.Sprint(i), Cells: []journal.Cell{{Name: "balance", Value: make([]byte, 100)}}}
	}
	at := int64(0)
	for b.Loop() {
		at++
		if err := s.Save(context.Background(), p, at, changes); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/500, "µs/actor")
}

// BenchmarkLoad loads one actor after another.
func BenchmarkLoad(b *testing.B) {
	s := open(b, service.StartRedis(b).Addr, "")
	if err := s.Save(b.Context(), p, 1, []journal.Change{row("1")}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := s.Load(context.Background(), p, "a"); err != nil {
			b.Fatal(err)
		}
	}
}
