package fallback_test

import (
	"context"
	"testing"

	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/internal/testkit"
)

// The closures below capture, so that they would be allocated if Run let them
// escape.

func TestASuccessAllocatesNothing(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(fallback.Reduced("none", func(context.Context, error) (int, error) { return 0, nil }), fallback.Value(1)))
	ctx, n := context.Background(), 0
	testkit.Allocs(t, 0, func() {
		got, err := fallback.Do(ctx, l, func(context.Context) (int, error) { n++; return n, nil })
		if got != n || err != nil {
			t.Fatal(got, err)
		}
	})
}

func TestASuccessOfARequestAllocatesNothing(t *testing.T) {
	l := must(t, fallback.Config{DrillShare: 1e-300}, fallback.Rungs(rung.Value(&reply{})))
	ctx, good, n := context.Background(), &reply{status: 200}, 0
	testkit.Allocs(t, 0, func() {
		r, err := run(ctx, l, ask{key: "k"}, func(context.Context, ask) (*reply, error) { n++; return good, nil })
		if r != good || err != nil {
			t.Fatal(r, err)
		}
	})
}

func TestNoLadderAllocatesNothing(t *testing.T) {
	var l *fallback.Ladder[struct{}, int]
	ctx, n := context.Background(), 0
	testkit.Allocs(t, 0, func() {
		_, _ = fallback.Do(ctx, l, func(context.Context) (int, error) { n++; return n, nil })
	})
}

func TestRecordingAKnownKeyAllocatesNothing(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Cached(keyOf, nil)))
	ctx, good, n := context.Background(), &reply{status: 200}, 0
	testkit.Allocs(t, 0, func() {
		_, _ = run(ctx, l, ask{key: "k"}, func(context.Context, ask) (*reply, error) { n++; return good, nil })
	})
}

func BenchmarkBare(b *testing.B) {
	n, ctx := 0, context.Background()
	f := func(context.Context) (int, error) { n++; return n, nil }
	for b.Loop() {
		_, _ = f(ctx)
	}
}

func BenchmarkDo(b *testing.B) {
	plain := fallback.Rungs(fallback.Value(1))
	for name, l := range map[string]*fallback.Ladder[struct{}, int]{
		"success":        must(b, fallback.Config{}, plain),
		"success,drills": must(b, fallback.Config{DrillShare: 1e-300}, plain),
		"success,cached": must(b, fallback.Config{}, fallback.Rungs(fallback.Cached[int](nil, nil))),
		"absent":         nil,
	} {
		b.Run(name, func(b *testing.B) {
			n, ctx := 0, context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = fallback.Do(ctx, l, func(context.Context) (int, error) { n++; return n, nil })
			}
		})
	}
}

func BenchmarkFailure(b *testing.B) {
	for name, r := range map[string]fallback.Rung[struct{}, int]{
		"value":  fallback.Value(1),
		"cached": fallback.Cached[int](nil, nil),
	} {
		b.Run(name, func(b *testing.B) {
			l, ctx := must(b, fallback.Config{}, fallback.Rungs(r)), context.Background()
			_, _ = fallback.Do(ctx, l, func(context.Context) (int, error) { return 1, nil })
			b.ReportAllocs()
			for b.Loop() {
				_, _ = fallback.Do(ctx, l, func(context.Context) (int, error) { return 0, errDown })
			}
		})
	}
}
