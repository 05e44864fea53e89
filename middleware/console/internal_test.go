package console

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

func TestALevelIsJudgedByWhatIsWorst(t *testing.T) {
	broken := func(state string) middleware.Status {
		return middleware.Status{Breaker: &middleware.BreakerStatus{State: state}}
	}
	held := func(inFlight, queued, limit int64) middleware.Status {
		return middleware.Status{Bulkhead: &middleware.BulkheadStatus{InFlight: inFlight, Queued: queued, Limit: limit}}
	}
	quiet, lively := load{}, load{calls: 100, minute: 600}
	for name, x := range map[string]struct {
		status middleware.Status
		load   load
		want   level
		signs  string
	}{
		"nothing at all":                      {middleware.Status{}, quiet, idle, ""},
		"calls that go well":                  {middleware.Status{}, lively, well, ""},
		"a call under way":                    {held(1, 0, 8), quiet, well, ""},
		"open":                                {broken("open"), lively, down, ""},
		"open, and nobody calls":              {broken("open"), quiet, down, ""},
		"open by hand":                        {broken("forced-open"), lively, down, ""},
		"half-open":                           {broken("half-open"), lively, recovering, ""},
		"closed by hand":                      {broken("forced-closed"), lively, byHand, ""},
		"closed by hand, and failing":         {broken("forced-closed"), load{calls: 100, failed: 50, minute: 100}, strained, "failing"},
		"metrics only":                        {broken("metrics-only"), quiet, byHand, ""},
		"full":                                {held(8, 0, 8), lively, strained, "bulkhead full"},
		"full, with a queue":                  {held(8, 3, 8), lively, strained, "bulkhead full, calls queue"},
		"no limit":                            {held(8, 0, -1), lively, well, ""},
		"no budget left":                      {middleware.Status{Budget: &middleware.BudgetStatus{Available: 0.9}}, lively, strained, "retry budget empty"},
		"a tenth fails":                       {middleware.Status{}, load{calls: 100, failed: 10, minute: 100}, strained, "failing"},
		"less than a tenth fails":             {middleware.Status{}, load{calls: 100, failed: 9, minute: 100}, well, ""},
		"too few calls to tell":               {middleware.Status{}, load{calls: 9, failed: 9, minute: 9}, well, ""},
		"faults on purpose, which are marked": {middleware.Status{}, load{calls: 100, minute: 100, faults: 1}, well, "faults injected"},
		"closed for good":                     {middleware.Status{Closed: true, Breaker: &middleware.BreakerStatus{State: "open"}}, lively, shut, "closed for good"},
	} {
		if got, signs := judge(x.status, x.load); got != x.want || strings.Join(signs, ", ") != x.signs {
			t.Errorf("%s: %s %q, want %s %q", name, got, signs, x.want, x.signs)
		}
	}
}

func TestAPulseCountsInStepsAndForgets(t *testing.T) {
	var p pulse
	start := backstay.Instant(1000 * steps * (steps + 1) * int64(step))
	for i := range 100 { // one in the first step, two in the second, and so on
		for range i + 1 {
			p.add(calls, start.Add(time.Duration(i)*step))
		}
	}
	now := start.Add(100 * step)
	b := p.bars(calls, now)
	for i, n := range b {
		if want := uint32(100 - steps + i + 1); n != want {
			t.Errorf("bar %d is %d, want %d", i, n, want)
		}
	}
	if got, want := b.rate(), float64(96+97+98+99+100)/10; got != want {
		t.Errorf("the rate is %v, want %v", got, want)
	}
	p.add(calls, start) // a whole round late: nobody would see it
	if again := p.bars(calls, now); again != b {
		t.Errorf("a late one changes %v to %v", b, again)
	}
	if other := p.bars(failed, now); other != (Bars{}) {
		t.Errorf("another measure: %v", other)
	}
	if later := p.bars(calls, now.Add(steps*step)); later.sum() != 0 {
		t.Errorf("a minute later: %v", later)
	}
}

func TestPercentilesAreWithinSixPercent(t *testing.T) {
	start := backstay.Instant(1 << 61)
	for _, unit := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 37 * time.Microsecond} {
		l := newLatencies()
		for i := range 1000 {
			l.add(start, time.Duration(i+1)*unit)
		}
		p, ok := l.percentiles(start)
		for share, got := range map[float64]time.Duration{0.5: p.p50, 0.95: p.p95, 0.99: p.p99} {
			want := max(time.Duration(share*1000)*unit, quickest)
			if off := math.Abs(float64(got-want)) / float64(want); !ok || off > 0.0625 {
				t.Errorf("%v: p%v is %v, want %v", unit, share*100, got, want)
			}
		}
		if _, ok := l.percentiles(start.Add(turn)); !ok {
			t.Errorf("forgotten too early")
		}
		if p, ok := l.percentiles(start.Add(2 * turn)); ok {
			t.Errorf("still known after two turns: %v", p)
		}
		l.add(start.Add(2*turn), time.Second)
		if p, _ := l.percentiles(start.Add(2 * turn)); p.p50 < 900*time.Millisecond {
			t.Errorf("an old generation lives on: %v", p)
		}
		l.add(start, time.Hour) // whole turns late
		if p, ok := l.percentiles(start.Add(2 * turn)); !ok || p.p50 < 900*time.Millisecond || p.p99 > 2*time.Second {
			t.Errorf("a late one counts: %v", p)
		}
	}
	if _, ok := (*latencies)(nil).percentiles(start); ok {
		t.Error("no latencies have percentiles")
	}
	l := newLatencies()
	for _, d := range []time.Duration{-1, 0, 1, math.MaxInt64} {
		l.add(start, d)
	}
	if p, _ := l.percentiles(start); p.p50 > quickest*2 || p.p99 < slowest/2 {
		t.Errorf("extremes: %v", p)
	}
}

func TestACallCountsAsWhatItCameTo(t *testing.T) {
	for class, want := range map[backstay.Class][4]uint64{ // calls, failed, refused, timed
		backstay.Success: {1, 0, 0, 1}, backstay.Permanent: {1, 0, 0, 1}, backstay.Transient: {1, 1, 0, 1},
		backstay.Overload: {1, 1, 0, 1}, backstay.Fault: {1, 1, 0, 1}, backstay.Canceled: {1, 0, 0, 0}, backstay.Rejected: {1, 0, 1, 0},
	} {
		var s series
		now := backstay.Now()
		s.hear(now, backstay.Event{Kind: backstay.CallDone, Outcome: backstay.Outcome{Class: class}, Elapsed: time.Second})
		b := s.all(now.Add(step))
		got := [4]uint64{b[calls].sum(), b[failed].sum(), b[refused].sum(), 0}
		if _, timed := s.percentiles(now); timed {
			got[3] = 1
		}
		if got != want {
			t.Errorf("%s counts as %v, want %v", class, got, want)
		}
	}
}

func TestLookingTakesAtMostATenthOfAProcessor(t *testing.T) {
	for _, x := range []struct{ interval, took, want time.Duration }{
		{time.Second, 0, 900 * time.Millisecond},
		{time.Second, 10 * time.Millisecond, 900 * time.Millisecond},
		{time.Second, 200 * time.Millisecond, 2 * time.Second},
	} {
		if got := pause(x.interval, x.took); got != x.want {
			t.Errorf("a look that took %v serves for %v, want %v", x.took, got, x.want)
		}
	}
}

func TestClippingKeepsTextValid(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "short": "short", "exactly 10": "exactly 10", "exactly ten": "exactly…", "ßßßßßß": "ßßß…", "a\xffb": "a\uFFFDb", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff": "\uFFFD…",
	} {
		if got := clip(in, 10); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestNamesOfLevelsAreKnownAgain(t *testing.T) {
	for l := range levels {
		if got, ok := levelNamed(l.String()); !ok || got != l {
			t.Errorf("%s is %v", l, got)
		}
	}
}

// BenchmarkLook is what a look at 10,000 pipelines costs.
func BenchmarkLook(b *testing.B) {
	memory := &observer{keys: 10_000}
	t := middleware.Standard("tenants")
	r, err := middleware.NewRegistry(t, middleware.WithObserver(memory))
	if err != nil {
		b.Fatal(err)
	}
	now := backstay.Now()
	for i := range 10_000 {
		key := fmt.Sprintf("tenant-%05d", i)
		r.Get(key, now)
		memory.Observe(b.Context(), backstay.Event{Kind: backstay.CallDone, Policy: "tenants", Key: key, Elapsed: time.Millisecond})
	}
	from := []source{{name: "tenants", target: "tenants", size: r.Len, all: r.All}}
	b.ReportAllocs()
	for b.Loop() {
		if s := take(backstay.Now(), from, 20_000, memory); !slices.IsSortedFunc(s.rows, byTrouble) {
			b.Fatal("not in order")
		}
	}
}
