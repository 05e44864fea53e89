package kafka_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

// A call that reads a value and writes it, from a process that hosts nothing, by
// 256 callers on 1,024 actors.
func BenchmarkCallsWithState(b *testing.B) {
	c := config(brokers.StartFake(b), "bench")
	c.Partitions = 16
	if err := kafka.Setup(b.Context(), c, bankAccount.Name()); err != nil {
		b.Fatal(err)
	}
	start(b, c, "host", hostBank())
	ctx := start(b, c, "client").Context(b.Context())
	deposits(b, ctx, 10_000)
	b.ReportAllocs()
	b.ResetTimer()
	deposits(b, ctx, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// deposits makes n calls.
func deposits(b *testing.B, ctx context.Context, n int) { //nolint:revive // it is about b
	const callers, accounts = 256, 1024
	refs := make([]actors.Ref[account], accounts)
	for i := range refs {
		refs[i] = bankAccount.Ref(fmt.Sprint("no. ", i))
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if _, err := deposit.Call(ctx, refs[i%accounts], 1); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}
