package idempotency_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// BenchmarkKeys is Begin and Complete of one new key after another, by one
// caller and by 64 at once. The server shares the machine; the time of the
// processors that a key takes says what a machine with nothing else to do
// would reach.
func BenchmarkKeys(b *testing.B) {
	server := service.StartRedis(b)
	store := open(b, server.Addr, redis.Config{Timeout: time.Minute})
	record := idempotency.Record{Answer: make([]byte, 200)}
	key := func(ctx context.Context) {
		claim := owner(idempotency.NewKey())
		if _, err := store.Begin(ctx, claim, idempotency.Fingerprint{}, time.Minute); err != nil {
			b.Error(err)
		}
		if err := store.Complete(ctx, claim, record, time.Minute); err != nil {
			b.Error(err)
		}
	}
	meter := connect(b, server.Addr)
	b.Run("one caller", func(b *testing.B) {
		report := measure(b, meter)
		defer report()
		for b.Loop() {
			key(b.Context())
		}
	})
	b.Run("64 callers", func(b *testing.B) {
		report := measure(b, meter)
		defer report()
		b.SetParallelism(32) // times GOMAXPROCS
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				key(b.Context())
			}
		})
	})
}

// BenchmarkReplay is a repetition that finds the answer of the first.
func BenchmarkReplay(b *testing.B) {
	server := service.StartRedis(b)
	guard := guardOver(b, open(b, server.Addr, redis.Config{}), idempotency.GuardConfig{})
	report := measure(b, connect(b, server.Addr))
	defer report()
	for b.Loop() {
		if _, _, err := guard.Run(b.Context(), request("k", "body"), answering("answer")); err != nil {
			b.Fatal(err)
		}
	}
}

// measure begins to measure, and returns what ends it and reports.
func measure(b *testing.B, meter *goredis.Client) func() {
	b.Helper()
	b.ReportAllocs()
	client, server := ownTime(b), serverTime(b, meter)
	return func() {
		each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "keys/s")
		b.ReportMetric(each(ownTime(b)-client), "client-cpu-µs/key")
		b.ReportMetric(each(serverTime(b, meter)-server), "server-cpu-µs/key")
	}
}

// ownTime is what this process has used of the processors.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// serverTime is what the server has used of them.
func serverTime(b *testing.B, meter *goredis.Client) time.Duration {
	b.Helper()
	var system, user float64
	for line := range strings.Lines(meter.Info(b.Context(), "cpu").Val()) {
		_, _ = fmt.Sscanf(line, "used_cpu_sys:%g", &system)
		_, _ = fmt.Sscanf(line, "used_cpu_user:%g", &user)
	}
	return time.Duration((system + user) * float64(time.Second))
}
