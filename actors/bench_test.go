package actors_test

import (
	"context"
	"testing"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

// The same calls as the runtime's own benchmarks make: what is more is what
// types and codecs cost.

type meter struct{}

var (
	Meter   = actors.NewType[meter]("meter")
	Up      = actors.Declare[int, int](Meter, "up")
	Down    = actors.Declare[int, int](Meter, "down")
	Nothing = actors.Declare[struct{}, struct{}](Meter, "nothing")
	Outer   = actors.Declare[struct{}, struct{}](Meter, "outer")
	reading = actors.NewValue[int](Meter, "reading")
)

func hostMeter() actors.Hosting {
	return actors.Host(Meter, actors.Settings{},
		actors.Handle(Up, func(ctx context.Context, self actors.Self[meter], by int) (int, error) {
			n, err := reading.Get(ctx, self)
			if err != nil {
				return 0, err
			}
			return n + by, reading.Set(self, n+by)
		}),
		actors.HandleNext(Down, func(_ context.Context, self actors.Self[meter], from int) (actors.Next[int], error) {
			if from == 0 {
				return actors.Return(0), nil
			}
			return Down.Tail(self, from-1), nil
		}),
		actors.Handle(Nothing, func(context.Context, actors.Self[meter], struct{}) (none struct{}, err error) { return none, nil }),
		actors.Handle(Outer, func(ctx context.Context, _ actors.Self[meter], in struct{}) (struct{}, error) {
			return Nothing.Call(ctx, Meter.Ref("b"), in)
		}),
	)
}

func meterNode(tb testing.TB) context.Context {
	tb.Helper()
	node, err := actors.Open(context.Background(), actors.Config{}, memory.New(memory.WithPartitions(1)), hostMeter())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return node.Context(context.Background())
}

// BenchmarkCallWithState is a call that reads and writes a value.
func BenchmarkCallWithState(b *testing.B) {
	ctx := meterNode(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Up.Call(ctx, Meter.Ref("a"), 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall is a call of a method that does nothing.
func BenchmarkCall(b *testing.B) {
	ctx := meterNode(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Nothing.Call(ctx, Meter.Ref("a"), struct{}{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNestedCall is a call that calls another actor.
func BenchmarkNestedCall(b *testing.B) {
	ctx := meterNode(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Outer.Call(ctx, Meter.Ref("a"), struct{}{}); err != nil {
			b.Fatal(err)
		}
	}
}
