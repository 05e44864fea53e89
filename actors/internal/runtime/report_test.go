package runtime_test

import (
	"context"
	goruntime "runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// rude are observers that end badly, whatever they are told.
var rude = map[string]func(runtime.Event){
	"panics":              func(runtime.Event) { panic("the observer's own fault") },
	"ends its goroutine":  func(runtime.Event) { goruntime.Goexit() },
	"ends it in a defer":  func(runtime.Event) { defer goruntime.Goexit(); panic("twice") },
	"panics with nothing": func(runtime.Event) { panic(nil) },
}

// Whoever has the baton reports: the loop, clients, methods that have returned.
func TestAnObserverThatEndsItsGoroutineTakesNobodyWithIt(t *testing.T) {
	for name, observe := range rude {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 1)
				defer c.stop()
				var told atomic.Int64
				methods := counter()
				methods["outer"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
					v, err := nested(ctx, a, actor("t", "b"), "inc", "")
					return value(v + code(err))
				}
				methods["flaky"] = func(_ context.Context, a *runtime.Attempt) runtime.End {
					if a.Number() == 1 {
						return again("on purpose")
					}
					return value("")
				}
				typ := hosting(methods)
				typ.Passivate = func(context.Context, string, any) { panic("the hook's own fault") }
				typ.Activate = func(context.Context, *runtime.Attempt) (any, *runtime.End) { return 1, nil }
				n := c.openWith(runtime.Config{SnapshotRecords: 1, Observe: func(e runtime.Event) {
					told.Add(1)
					observe(e)
				}}, typ)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				for _, method := range []string{"inc", "outer", "flaky", "inc"} {
					if _, err := call(ctx, n, "a", method, ""); err != nil {
						t.Errorf("%s: %v", method, err)
					}
				}
				time.Sleep(time.Hour) // it passivates
				if v, err := call(context.WithoutCancel(ctx), n, "a", "inc", ""); v != "3" || err != nil {
					t.Errorf("%q, %v", v, err)
				}
				if told.Load() < 10 {
					t.Errorf("it was told %d events only", told.Load())
				}
			})
		})
	}
}

// brittle is a log that panics at an append, once.
type brittle struct {
	journal.Log
	at     record.Kind
	broken atomic.Bool
}

func (b *brittle) Append(p partition, data []byte, done func(journal.Place, error)) {
	if h, _, err := record.Peek(data); err == nil && h.Kind == b.at && b.broken.CompareAndSwap(false, true) {
		panic("the log's own fault")
	}
	b.Log.Append(p, data, done)
}

// A client that recovers, as servers of HTTP do, drives the partition no more, and
// would keep the baton.
func TestALogThatPanicsAtAClientDoesNotStopThePartition(t *testing.T) {
	for _, at := range []record.Kind{record.KindClientRequest, record.KindBegun} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 1)
			defer c.stop()
			typ := hosting(counter())
			typ.StrictBegin = true
			log := &brittle{Log: c.log, at: at}
			c.log = log
			n := c.open(typ)
			synctest.Wait()
			ask := func() (v string, recovered any) {
				defer func() { recovered = recover() }()
				v, err := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "inc", TTL: 60_000, Key: "one"}))
				if err != nil {
					t.Error(err)
				}
				return v, nil
			}
			if _, recovered := ask(); recovered == nil {
				t.Fatalf("the log did not panic at a %v", at)
			}
			if v, _ := ask(); v != "1" {
				t.Errorf("after a panic at a %v: %q", at, v)
			}
		})
	}
}
