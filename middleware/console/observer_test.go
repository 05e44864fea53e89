package console_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware/console"
)

// kinds returns what the notices tell, newest first, with how often.
func kinds(all []console.Notice) (told []string) {
	for _, n := range all {
		told = append(told, fmt.Sprintf("%s %s ×%d", n.Kind, n.Reason, n.Count))
	}
	return told
}

func TestAStormIsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		o := c.Observer()
		say := func(k backstay.Kind, why backstay.Reason, times int) {
			for range times {
				o.Observe(t.Context(), backstay.Event{Kind: k, Policy: "payments", Key: "host", Reason: why, Outcome: backstay.Outcome{Class: backstay.Transient}})
			}
		}
		say(backstay.CallRejected, backstay.ReasonBreakerOpen, 1000)
		say(backstay.CallRejected, backstay.ReasonBulkheadFull, 10)
		say(backstay.CallRejected, backstay.ReasonBreakerOpen, 1)
		time.Sleep(9 * time.Second)
		say(backstay.CallRejected, backstay.ReasonBreakerOpen, 1)
		say(backstay.FaultInjected, "slow-host", 2)
		time.Sleep(2 * time.Second)
		say(backstay.CallRejected, backstay.ReasonBreakerOpen, 3)
		say(backstay.CallDone, backstay.ReasonExhausted, 1)
		s := state(t, c, "")
		want := []string{
			"call done exhausted ×1", "call rejected breaker_open ×3", "fault injected slow-host ×2",
			"call rejected bulkhead_full ×10", "call rejected breaker_open ×1002",
		}
		if got := kinds(s.Notices); !slices.Equal(got, want) {
			t.Errorf("told %q\nwant %q", got, want)
		}
		for i, n := range s.Notices {
			if n.Injected != (i == 2) || n.Name != "payments" || n.Key != "host" || n.Class != "transient" {
				t.Errorf("%+v", n)
			}
		}
	})
}

func TestWhatGoesWellIsNotTold(t *testing.T) {
	c := made(t, console.Config{})
	for _, k := range []backstay.Kind{
		backstay.CallStarted, backstay.AttemptStarted, backstay.AttemptDone, backstay.CallDone, backstay.RetryPlanned,
		backstay.HedgeStarted, backstay.HedgeDone, backstay.LimitChanged, backstay.PipelineEvicted, backstay.StepDone,
	} {
		c.Observer().Observe(t.Context(), backstay.Event{Kind: k})
	}
	c.Observer().Observe(t.Context(), backstay.Event{Kind: backstay.RetrySuppressed, Reason: backstay.ReasonExhausted})
	if s := state(t, c, ""); len(s.Notices) > 0 {
		t.Errorf("told %+v", s.Notices)
	}
	c.Observer().Observe(t.Context(), backstay.Event{Kind: backstay.RetrySuppressed, Reason: backstay.ReasonBudgetEmpty})
	c.Observer().Observe(t.Context(), backstay.Event{Kind: "a kind of somebody else"})
	if s := state(t, c, ""); len(s.Notices) != 2 {
		t.Errorf("told %+v", s.Notices)
	}
}

func TestMoreThanCanBeToldIsCounted(t *testing.T) {
	c := made(t, console.Config{})
	for i := range 20 {
		c.Observer().Observe(t.Context(), backstay.Event{Kind: backstay.CallRejected, Reason: backstay.Reason(fmt.Sprint(i))})
	}
	for i := range 1100 {
		c.Observer().Observe(t.Context(), backstay.Event{Kind: backstay.CallDone, Policy: fmt.Sprint(i)})
	}
	if s := state(t, c, ""); len(s.Notices) != 8 || s.Dropped != 12+101 {
		t.Errorf("%d told, %d dropped", len(s.Notices), s.Dropped)
	}
}

func TestErrorsAreShownOnlyWhereAsked(t *testing.T) {
	for name, x := range map[string]struct {
		options []console.Option
		want    string
	}{
		"not asked":   {nil, ""},
		"as they are": {[]console.Option{console.WithErrors(error.Error)}, "GET /?token=secret"},
		"redacted":    {[]console.Option{console.WithErrors(func(error) string { return "***" })}, "***"},
	} {
		c := made(t, console.Config{}, x.options...)
		c.Observer().Observe(t.Context(), backstay.Event{Kind: backstay.CallbackPanicked, Err: errors.New("GET /?token=secret")})
		if got := state(t, c, "").Notices[0].Error; got != x.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAnEvictedPipelineIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		shown(t, c, touchy("payments"), "host")
		e := backstay.Event{Kind: backstay.BreakerChanged, Policy: "payments", Key: "host", From: "closed", To: "open"}
		for range 20 {
			c.Observer().Observe(t.Context(), e)
		}
		if got := len(state(t, c, "").Rows[0].Changes); got != 16 {
			t.Errorf("%d transitions are remembered", got)
		}
		e.Kind = backstay.PipelineEvicted
		c.Observer().Observe(t.Context(), e)
		time.Sleep(2 * time.Second)
		if got := len(state(t, c, "").Rows[0].Changes); got != 0 {
			t.Errorf("%d transitions are remembered of a pipeline that is gone", got)
		}
	})
}

func TestObservingFromManyGoroutinesLosesNothing(t *testing.T) {
	c := made(t, console.Config{})
	shown(t, c, touchy("payments"), "host")
	const each = 2000
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range each {
				c.Observer().Observe(context.Background(), backstay.Event{
					Kind: backstay.CallRejected, Policy: "payments", Key: "host", Reason: backstay.ReasonBreakerOpen,
				})
			}
		})
	}
	all.Go(func() {
		for range 20 {
			state(t, c, "")
		}
	})
	all.Wait()
	s := state(t, c, "")
	var told int64
	for _, n := range s.Notices {
		told += n.Count
	}
	if told+s.Dropped != 4*each || s.Dropped > 0 {
		t.Errorf("%d told, %d dropped", told, s.Dropped)
	}
}

func TestObservingACallCostsNoAllocation(t *testing.T) {
	c := made(t, console.Config{})
	ctx, o := t.Context(), c.Observer()
	done := backstay.Event{Kind: backstay.CallDone, Policy: "payments", Key: "host", Elapsed: time.Millisecond}
	refused := backstay.Event{Kind: backstay.CallRejected, Policy: "payments", Key: "host", Reason: backstay.ReasonBreakerOpen}
	testkit.Allocs(t, 0, func() {
		o.Observe(ctx, done)
		o.Observe(ctx, refused)
	})
}

func BenchmarkObserve(b *testing.B) {
	c, _ := console.New(console.Config{})
	o := c.Observer()
	e := backstay.Event{Kind: backstay.CallDone, Policy: "payments", Key: "host", Elapsed: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		o.Observe(b.Context(), e)
	}
}
