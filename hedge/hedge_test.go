package hedge_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
)

const delay = 20 * time.Millisecond

var errDown = errors.New("down")

// must returns a policy.
func must(tb testing.TB, c hedge.Config, options ...hedge.Option) *hedge.Policy {
	tb.Helper()
	p, err := hedge.New(c, options...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// closed waits for the late copies of p.
func closed(tb testing.TB, p *hedge.Policy) {
	tb.Helper()
	if err := p.Close(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// copyPlan is what one copy does: after a time it answers with a reply or an
// error.
type copyPlan struct {
	after time.Duration
	reply *testkit.Reply
	err   error
}

// result is what one hedged call came to.
type result struct {
	reply *testkit.Reply
	err   error
	sent  int // how many copies were sent
	took  time.Duration
}

// call makes one hedged call whose copies do what the plans say.
func call(ctx context.Context, p *hedge.Policy, plans ...copyPlan) result {
	var mu sync.Mutex
	sent := 0
	began := time.Now()
	reply, err := hedge.Run(ctx, p, &testkit.Fake{}, "q", func(ctx context.Context, _ string) (*testkit.Reply, error) {
		n := hedge.Copy(ctx)
		mu.Lock()
		sent = max(sent, n)
		mu.Unlock()
		plan := plans[n-1]
		if err := sleep(ctx, plan.after); err != nil {
			return nil, err
		}
		return plan.reply, plan.err
	})
	mu.Lock()
	defer mu.Unlock()
	return result{reply, err, sent, time.Since(began)}
}

// reply returns a reply that is judged to be o.
func reply(o backstay.Outcome) *testkit.Reply { return &testkit.Reply{Outcome: o} }

// journal is an Observer that remembers.
type journal struct{ testkit.Recorder }

// of returns the events of a kind, by copy.
func (j *journal) of(k backstay.Kind) []backstay.Event {
	found := j.Events(k)
	slices.SortStableFunc(found, func(a, b backstay.Event) int { return a.Copy - b.Copy })
	return found
}

func (j *journal) scope() *backstay.Scope {
	return &backstay.Scope{Policy: "payments", Key: "a.example", Observer: j}
}
