package runtime_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// BenchmarkYardstick is what the others are measured by: a goroutine, and a
// channel there and back.
func BenchmarkYardstick(b *testing.B) {
	there, back := make(chan int), make(chan int)
	go func() {
		for v := range there {
			back <- v
		}
	}()
	defer close(there)
	for b.Loop() {
		there <- 1
		<-back
	}
}

// BenchmarkHandover is the yardstick with so much work on each side of it, and
// "beside" is what it costs besides. A call hands over twice, to its method's
// goroutine and back, and works a few microseconds: while methods have goroutines
// of their own, no call costs less. Where there is more than one processor, who
// wakes a goroutine wakes an idle one to look for work, which after a longer while
// of work has gone to sleep.
func BenchmarkHandover(b *testing.B) {
	for _, d := range []time.Duration{0, time.Microsecond, 2 * time.Microsecond} {
		b.Run(d.String(), func(b *testing.B) {
			there, back := make(chan int), make(chan int)
			go func() {
				for v := range there {
					compute(d)
					back <- v
				}
			}()
			defer close(there)
			for b.Loop() {
				compute(d)
				there <- 1
				<-back
			}
			b.ReportMetric(float64(b.Elapsed()-time.Duration(2*b.N)*d)/float64(b.N), "beside-ns/op")
		})
	}
}

func benchNode(b testing.TB, log journal.Log, methods map[string]run) *runtime.Node {
	b.Helper()
	typ := hosting(methods)
	typ.Mailbox, typ.BusyAfter = -1, -1
	n, err := runtime.Open(context.Background(), log, runtime.Config{SnapshotRecords: 1 << 40, SnapshotBytes: 1 << 40, Types: []runtime.Type{typ}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return n
}

func nop(context.Context, *runtime.Attempt) runtime.End { return runtime.End{} }

// BenchmarkTurn is one request of a full mailbox: from the end of the one
// before to its own, with the record between.
func BenchmarkTurn(b *testing.B) {
	log := memory.New(memory.WithPartitions(1))
	start := make(chan struct{})
	var done sync.WaitGroup
	done.Add(b.N)
	n := benchNode(b, log, map[string]run{
		"wait": func(context.Context, *runtime.Attempt) runtime.End { <-start; return runtime.End{} },
		"turn": func(context.Context, *runtime.Attempt) runtime.End { done.Done(); return runtime.End{} },
	})
	tell := func(method string) {
		if err := n.Tell(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: method}); err != nil {
			b.Fatal(err)
		}
	}
	tell("wait")
	for range b.N {
		tell("turn")
	}
	n.Inspect(context.Background())
	b.ReportAllocs()
	b.ResetTimer()
	close(start)
	done.Wait()
}

// BenchmarkCall is a call that reads and writes a cell.
func BenchmarkCall(b *testing.B) {
	n := benchNode(b, memory.New(memory.WithPartitions(1)), map[string]run{"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
		set(a, "n", count(ctx, a, "n")+1)
		return runtime.End{}
	}})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := n.Call(ctx, runtime.ClientCall{Target: actor("t", "a"), Method: "inc"}); err != nil {
			b.Fatal(err)
		}
	}
}

// hop is a method that goes on with itself so many times.
func hop(_ context.Context, a *runtime.Attempt) runtime.End {
	left, _ := strconv.Atoi(args(a))
	if left == 0 {
		return runtime.End{}
	}
	return tailSelf("hop", strconv.Itoa(left-1))
}

// BenchmarkTailSelf is a hop of a chain of self tail calls.
func BenchmarkTailSelf(b *testing.B) {
	n := benchNode(b, memory.New(memory.WithPartitions(1)), map[string]run{"hop": hop})
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := n.Call(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: "hop", Args: []byte(strconv.Itoa(b.N))}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkNested is a call that calls another actor of its partition.
func BenchmarkNested(b *testing.B) {
	n := benchNode(b, memory.New(memory.WithPartitions(1)), map[string]run{
		"outer": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			v, _ := nested(ctx, a, record.Address{Type: "t", Actor: "b"}, "inner", "")
			return value(v)
		},
		"inner": nop,
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := n.Call(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: "outer"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplay is a record that a new owner reads.
func BenchmarkReplay(b *testing.B) {
	log := memory.New(memory.WithPartitions(1))
	config := runtime.Config{SnapshotRecords: 1 << 40, SnapshotBytes: 1 << 40}
	typ := hosting(map[string]run{"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
		set(a, "n", count(ctx, a, "n")+1)
		return runtime.End{}
	}})
	config.Types = []runtime.Type{typ}
	first, err := runtime.Open(context.Background(), log, config)
	if err != nil {
		b.Fatal(err)
	}
	for range b.N/2 + 1 {
		if _, err := first.Call(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: "inc"}); err != nil {
			b.Fatal(err)
		}
	}
	if err := first.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
	owned := make(chan struct{}, 1)
	config.Observe = func(e runtime.Event) {
		if e.Kind == runtime.PartitionOwned {
			owned <- struct{}{}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	second, err := runtime.Open(context.Background(), log, config)
	if err != nil {
		b.Fatal(err)
	}
	<-owned
	b.StopTimer()
	if err := second.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBacklog is one of many requests that a new owner reads and finds in a
// mailbox: "expired" ones end without their method, which "run" has to run: one
// of 50 µs.
func BenchmarkBacklog(b *testing.B) {
	for name, ttl := range map[string]int64{"expired": 1, "run": 0} {
		b.Run(name, func(b *testing.B) {
			log := memory.New(memory.WithPartitions(1))
			client, err := runtime.Open(context.Background(), log, runtime.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				if err := client.Tell(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: "work", TTL: ttl}); err != nil {
					b.Fatal(err)
				}
			}
			time.Sleep(5 * time.Millisecond)
			left, done := b.N, make(chan struct{})
			b.ResetTimer()
			typ := hosting(map[string]run{"work": work})
			typ.Mailbox, typ.BusyAfter = -1, -1
			n, err := runtime.Open(context.Background(), log, runtime.Config{SnapshotRecords: 1 << 40, SnapshotBytes: 1 << 40, Types: []runtime.Type{typ}, Observe: func(e runtime.Event) {
				if e.Kind != runtime.RequestGivenUp && e.Kind != runtime.MethodDone {
					return
				}
				if left--; left == 0 {
					close(done)
				}
			}})
			if err != nil {
				b.Fatal(err)
			}
			<-done
			b.StopTimer()
			for _, n := range []*runtime.Node{n, client} {
				if err := n.Stop(context.Background()); err != nil {
					b.Error(err)
				}
			}
		})
	}
}

// work takes 50 µs of a processor.
func work(context.Context, *runtime.Attempt) runtime.End {
	compute(50 * time.Microsecond)
	return runtime.End{}
}

// compute takes so much of a processor.
func compute(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; { //nolint:revive // it computes
	}
}
