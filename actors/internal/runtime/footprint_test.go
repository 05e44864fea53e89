package runtime_test

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/internal/testkit"
)

// envFootprint asks for the full numbers: a million actors, which takes minutes.
const envFootprint = "ACTORS_FOOTPRINT"

// crowd is a type of actors of which one makes others, with a state or without.
func crowd(name string, each int, idle time.Duration) runtime.Type {
	t := named(name, map[string]run{
		"be": func(_ context.Context, a *runtime.Attempt) runtime.End {
			_ = a.Set("state", a.Request().Args)
			return value("")
		},
		"pass": nop,
		"make": func(_ context.Context, a *runtime.Attempt) runtime.End {
			var from int
			var typ, method string
			_, _ = fmt.Sscan(args(a), &from, &typ, &method)
			for i := from; i < from+each; i++ {
				if err := a.Tell(record.Call{Target: actor(typ, strconv.Itoa(i)), Method: method, Args: make([]byte, 100)}); err != nil {
					return again(err.Error())
				}
			}
			return value("")
		},
	})
	t.IdleAfter, t.Mailbox, t.BusyAfter = idle, -1, -1
	t.Activate = func(context.Context, *runtime.Attempt) (any, *runtime.End) { return new([16]byte), nil }
	return t
}

// Acceptance case A10.
func TestA10_ActorsThatNobodyUsesTakeNoMemory(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector takes memory")
	}
	actors, live, limit, records := 10_000, 1_000, 30<<20, 200
	if os.Getenv(envFootprint) != "" {
		actors, live, limit, records = 1_000_000, 100_000, 300<<20, 5000
	} else if testing.Short() {
		t.Skip("it takes seconds")
	}
	const each = 500
	log, err := memory.Open(t.TempDir(), memory.WithPartitions(16), memory.WithoutSync())
	if err != nil {
		t.Fatal(err)
	}
	types := []runtime.Type{crowd("short", each, time.Second), crowd("long", each, time.Hour)}
	n, err := runtime.Open(t.Context(), log, runtime.Config{Window: time.Second, SnapshotRecords: records, Types: types})
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	makeThem := func(from, to int, typ, method string) {
		for i := from; i < to; i += each {
			if _, err := n.Call(t.Context(), runtime.ClientCall{Target: actor("short", "maker"), Method: "make", Args: fmt.Appendf(nil, "%d %s %s", i, typ, method)}); err != nil {
				t.Fatal(err)
			}
		}
		quiet(t, n)
	}
	makeThem(0, actors/2, "short", "be")
	makeThem(actors/2, actors, "short", "pass") // half of them have no state
	time.Sleep(2500 * time.Millisecond)
	makeThem(0, each*4, "short", "pass") // time passes, snapshots are made
	time.Sleep(2500 * time.Millisecond)
	idle := heap() - before
	began := time.Now()
	makeThem(0, live, "long", "be")
	after := heap() - before
	instances := 0
	for _, p := range n.Inspect(t.Context()).Partitions {
		instances += p.Instances
	}
	t.Logf("%d passivated actors: %d KiB; and %d live ones, after %v: %d KiB", actors, idle>>10, instances, time.Since(began), after>>10)
	if after > limit || instances < live {
		t.Errorf("%d live actors and %d bytes, want %d and at most %d", instances, after, live, limit)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// quiet waits until nothing is queued.
func quiet(t *testing.T, n *runtime.Node) {
	t.Helper()
	for {
		left := 0
		for _, p := range n.Inspect(t.Context()).Partitions {
			left += p.Requests + p.Outputs
		}
		if left == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// heap is what is in use.
func heap() int {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return int(m.HeapInuse) //nolint:gosec // small
}
