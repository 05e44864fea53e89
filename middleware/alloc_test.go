package middleware_test

import (
	"context"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
)

var silence = backstay.ObserverFunc(func(context.Context, backstay.Event) {})

// What a call costs that succeeds at once, where its caller's deadline comes
// before the attempt's. The function captures something, so that it would be
// allocated if it escaped.
func TestASuccessIsFree(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p := made(t, middleware.Standard("test"))
	sum := 0
	testkit.Allocs(t, 0, func() {
		_, _ = middleware.Do(ctx, p, func(context.Context) (int, error) { sum++; return sum, nil })
	})
	l, err := middleware.NewLadder(p, fallback.Rungs(fallback.Value(1)))
	if err != nil {
		t.Fatal(err)
	}
	testkit.Allocs(t, 0, func() {
		_, _ = middleware.DoOr(ctx, p, l, func(context.Context) (int, error) { sum++; return sum, nil })
	})
	hedging := made(t, middleware.Reads("test"))
	testkit.Allocs(t, 0, func() {
		_, _ = middleware.Do(ctx, hedging, func(context.Context) (int, error) { sum++; return sum, nil })
	})
}

// Bounds that are our own cost the contexts of the call and of the attempt,
// which are one allocation.
func TestASuccessWithinOurOwnBounds(t *testing.T) {
	p := made(t, middleware.Standard("test"))
	sum := 0
	testkit.Allocs(t, 1, func() {
		_, _ = middleware.Do(context.Background(), p, func(context.Context) (int, error) { sum++; return sum, nil })
	})
}

// Being told costs a context that hides the report from calls within; and where
// nobody has asked for a report, that of the observer.
func TestASuccessThatSomebodyIsToldOf(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	sum := 0
	p := made(t, middleware.Standard("test"))
	reported, _ := backstay.WithReport(ctx)
	testkit.Allocs(t, 1, func() {
		_, _ = middleware.Do(reported, p, func(context.Context) (int, error) { sum++; return sum, nil })
	})
	observed := made(t, middleware.Standard("test"), middleware.WithObserver(silence))
	testkit.Allocs(t, 3, func() {
		_, _ = middleware.Do(ctx, observed, func(context.Context) (int, error) { sum++; return sum, nil })
	})
}

// A call that may hedge allocates its closures, and a timer once it does.
func TestASuccessThatMayHedge(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p := made(t, middleware.Reads("test"))
	sum := 0
	call := func() {
		_, _ = middleware.Race(ctx, p, nil, func(context.Context) (int, error) { sum++; return sum, nil })
	}
	testkit.Allocs(t, 5, call)
	for p.Status().Hedge.Delay == 0 { // there are too few samples yet
		call()
	}
	testkit.Allocs(t, 7, call)
}
