package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

// An operation is what happens next, in four bytes: what, and how.
type operation struct{ what, weight, priority, wait byte }

// A game plays operations on a bulkhead and on its model.
type game struct {
	t     *testing.T
	real  *bulkhead.Bulkhead
	model model
	began time.Time

	mu     sync.Mutex
	states []state
	leave  []context.CancelFunc
	held   []*bulkhead.Permit
}

// play returns how the bulkhead differs from its model, if it does. It must
// run in a synctest bubble.
func play(t *testing.T, maxQueue int, maxWait time.Duration, operations []operation) error {
	t.Helper()
	g := &game{
		t: t, began: time.Now(),
		real: must(bulkhead.New(bulkhead.Config{
			Limit: 8, MaxQueue: maxQueue, MaxWait: maxWait,
			Priorities: &bulkhead.PriorityConfig{DefaultShare: 0.75, SheddableShare: 0.5},
		})),
		model: model{limit: 8, maxQueue: int64(maxQueue), maxWait: maxWait},
	}
	for i, o := range operations {
		g.step(o)
		synctest.Wait()
		if err := g.agree(); err != nil {
			return fmt.Errorf("after operation %d %+v: %w", i, o, err)
		}
		g.pass(time.Microsecond) // no two things end at the same moment
	}
	return g.finish()
}

func (g *game) step(o operation) {
	switch o.what % 8 {
	case 0, 1, 2:
		g.acquire(o)
	case 3:
		g.try(o)
	case 4, 5:
		g.release(int(o.weight))
	case 6:
		g.cancel(int(o.weight))
	default:
		if o.priority%4 == 0 {
			g.setLimit(int64(o.weight%10) + 1)
		} else {
			g.pass(time.Duration(o.wait%16) * time.Millisecond)
		}
	}
}

func (g *game) call(o operation) *modelCall {
	return &modelCall{weight: int64(o.weight%5) + 1, priority: bulkhead.Priority(o.priority%3) - 1}
}

func (g *game) now() time.Duration { return time.Since(g.began) }

func (g *game) acquire(o operation) {
	c, id := g.call(o), len(g.model.calls)
	end := 24 * time.Hour // longer than any game
	if o.wait%2 == 0 {
		c.deadline = g.now() + time.Duration(o.wait%32+1)*time.Millisecond + time.Duration(id+1)
		end = c.deadline
	}
	ctx, cancel := context.WithDeadline(bulkhead.WithPriority(g.t.Context(), c.priority), g.began.Add(end))
	if g.model.maxWait > 0 {
		c.waitsTil = g.now() + g.model.maxWait
	}
	g.states, g.leave, g.held = append(g.states, state{calling, g.now()}), append(g.leave, cancel), append(g.held, nil)
	go func() {
		permit, err := g.real.Acquire(ctx, c.weight)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held[id] = &permit
		g.states[id] = state{endOf(err), g.now()}
	}()
	g.model.arrive(c)
}

func endOf(err error) string {
	switch {
	case err == nil:
		return holding
	case errors.Is(err, bulkhead.ErrFull) && errors.Is(err, context.DeadlineExceeded):
		return overdue
	case errors.Is(err, bulkhead.ErrFull):
		return refused
	case errors.Is(err, context.Canceled):
		return cancelled
	default:
		return err.Error()
	}
}

func (g *game) try(o operation) {
	c := g.call(o)
	permit, ok := g.real.TryAcquire(bulkhead.WithPriority(g.t.Context(), c.priority), c.weight)
	is := state{refused, g.now()}
	if ok {
		is.what = holding
	}
	g.states, g.leave, g.held = append(g.states, is), append(g.leave, func() {}), append(g.held, &permit)
	g.model.try(c)
}

// find returns the number of one of the calls in the given state.
func (g *game) find(n int, what string) (int, bool) {
	var all []int
	for i, c := range g.model.calls {
		if c.is.what == what {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return all[n%len(all)], true
}

func (g *game) release(n int) {
	if i, ok := g.find(n, holding); ok {
		g.held[i].Release(backstay.Outcome{})
		g.states[i] = state{returned, g.now()}
		g.model.end(g.model.calls[i], returned)
	}
}

func (g *game) cancel(n int) {
	if i, ok := g.find(n, calling); ok {
		g.leave[i]()
		g.model.end(g.model.calls[i], cancelled)
	}
}

func (g *game) setLimit(n int64) {
	if err := g.real.SetLimit(n); err != nil {
		g.t.Error(err)
	}
	g.model.limit = n
	g.model.settle()
}

func (g *game) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	g.model.pass(g.now())
}

func (g *game) agree() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.model.agree(g.real, g.states)
}

// finish ends everything: nothing may be left, and nothing be missing.
func (g *game) finish() error {
	for _, end := range []struct {
		what string
		one  func(int)
	}{{calling, g.cancel}, {holding, g.release}} {
		for range g.model.calls {
			end.one(0)
			synctest.Wait()
		}
	}
	for _, cancel := range g.leave {
		cancel()
	}
	if err := g.agree(); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	wantIdle(g.t, g.real)
	return nil
}

func TestEverySequenceOfOperationsAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(draw *rapid.T) {
		maxQueue := rapid.IntRange(0, 6).Draw(draw, "max queue")
		maxWait := time.Duration(0)
		if maxQueue > 0 {
			maxWait = time.Duration(rapid.IntRange(0, 20).Draw(draw, "max wait")) * time.Millisecond
		}
		operations := rapid.SliceOfN(rapid.Custom(func(draw *rapid.T) operation {
			all := rapid.Byte()
			return operation{all.Draw(draw, "what"), all.Draw(draw, "weight"), all.Draw(draw, "priority"), all.Draw(draw, "wait")}
		}), 0, 80).Draw(draw, "operations")
		var err error
		synctest.Test(t, func(t *testing.T) { err = play(t, maxQueue, maxWait, operations) })
		if err != nil {
			draw.Fatal(err)
		}
	})
}

func FuzzOperations(f *testing.F) {
	f.Add(byte(0), byte(0), []byte{0, 4, 2, 1, 0, 4, 1, 1, 4, 0, 0, 0})
	f.Add(byte(3), byte(5), []byte{0, 4, 2, 1, 0, 4, 1, 1, 1, 0, 0, 3, 7, 0, 1, 9, 4, 0, 0, 0})
	f.Add(byte(2), byte(0), []byte{0, 4, 2, 1, 0, 4, 0, 1, 0, 3, 0, 1, 0, 3, 1, 1, 6, 0, 0, 0, 3, 1, 2, 0})
	f.Add(byte(6), byte(30), []byte{0, 4, 2, 1, 0, 4, 1, 2, 7, 1, 0, 0, 7, 9, 4, 0, 5, 0, 0, 0, 7, 0, 1, 200})
	f.Fuzz(func(t *testing.T, maxQueue, maxWait byte, data []byte) {
		var operations []operation
		for ; len(data) >= 4 && len(operations) < 200; data = data[4:] {
			operations = append(operations, operation{data[0], data[1], data[2], data[3]})
		}
		wait := time.Duration(maxWait%25) * time.Millisecond
		if maxQueue %= 8; maxQueue == 0 {
			wait = 0
		}
		synctest.Test(t, func(t *testing.T) {
			if err := play(t, int(maxQueue), wait, operations); err != nil {
				t.Error(err)
			}
		})
	})
}
