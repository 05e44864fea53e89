package actors_test

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

// instants is where every [backstay.Instant] is counted from.
//
//go:linkname instants github.com/backstay-go/backstay.start
var instants time.Time

// setWall has the wall clock differ by so much from what it was when instants
// began, as if somebody had set it since. The monotonic clock stays.
func setWall(t *testing.T, by time.Duration) {
	t.Helper()
	was := instants
	t.Cleanup(func() { instants = was })
	const nanoseconds = 30                                                                // bits, below the seconds
	*(*uint64)(unsafe.Pointer(&instants)) -= uint64(int64(by/time.Second)) << nanoseconds //nolint:gosec // a Time has no other way to it
	if got := instants.Round(0).Sub(was.Round(0)); got != -by || !instants.Equal(was) {
		t.Fatalf("a time.Time is not what this test takes it for: %v, want %v", got, -by)
	}
}

// A process's clock is set by an hour, or its machine has slept for one. What has a
// deadline does not expire, and what has a delay is not late. In real time, since
// a bubble has no monotonic clock.
func TestAWallClockThatIsSetMovesNoDeadlineAndNoDelay(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			setWall(t, by)
			c := &cluster{T: t, log: memory.New(memory.WithPartitions(1))}
			defer c.stopAll()
			add := actors.Declare[int, int](Thing, "add")
			done := make(chan int, 1)
			node := c.things(actors.Handle(add, func(_ context.Context, _ actors.Self[thing], n int) (int, error) {
				if n > 2 {
					done <- n
				}
				return n, nil
			}))
			ctx, cancel := context.WithTimeout(node, 10*time.Second)
			defer cancel()
			for n := range 3 { // the first ones tell the process what time it is
				if got, err := add.Call(ctx, Thing.Ref("a"), n); err != nil || got != n {
					t.Errorf("call %d: %d, %v", n, got, err)
				}
			}
			if err := add.Tell(ctx, Thing.Ref("a"), 3, actors.Delay(time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			select {
			case <-done:
			case <-ctx.Done():
				t.Error("a tell with a delay of 1 ms has not come after 10 s")
			}
		})
	}
}
