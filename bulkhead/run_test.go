package bulkhead_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

func nothing(context.Context) (int, error) { return 0, nil }

func TestTheLimitIsHowManyRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 3}))
		results := make(chan error, 5)
		for range cap(results) {
			go func() {
				_, err := bulkhead.Do(t.Context(), b, func(context.Context) (int, error) {
					time.Sleep(time.Second)
					return 0, nil
				})
				results <- err
			}()
		}
		synctest.Wait()
		if b.InFlight() != 3 || len(results) != 2 || !b.Saturated() {
			t.Errorf("%d in flight, %d refused, saturated %v", b.InFlight(), len(results), b.Saturated())
		}
		for range 2 {
			wantFull(t, <-results)
		}
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		wantIdle(t, b)
	})
}

func TestTheDefaultIs64AndNoQueue(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{}))
	for range 64 {
		acquire(t, b)
	}
	_, err := bulkhead.Do(t.Context(), b, nothing)
	if full := wantFull(t, err); full.InFlight != 64 || full.Limit != 64 || full.Queued != 0 {
		t.Errorf("refused with %+v", full)
	}
}

// The ways in which a call can end without returning.
var exits = map[string]func(){
	"panic":                func() { panic("boom") },
	"http.ErrAbortHandler": func() { panic(http.ErrAbortHandler) },
	"runtime.Goexit":       runtime.Goexit,
}

// Acceptance case C43.
func TestC43_APanicUnderABulkheadOfOneFreesThePermit(t *testing.T) {
	for name, exit := range exits {
		for _, kind := range kinds {
			t.Run(name+" under "+kind.name, func(t *testing.T) {
				kind.config.Limit = 1
				if kind.config.Adaptive != nil {
					kind.config.Adaptive = &bulkhead.AdaptiveConfig{Min: 1}
				}
				b := must(bulkhead.New(kind.config))
				gone := make(chan any)
				go func() {
					defer func() { gone <- recover() }()
					_, _ = bulkhead.Do(t.Context(), b, func(context.Context) (int, error) {
						exit()
						return 0, nil
					})
				}()
				if v := <-gone; (v == nil) != (name == "runtime.Goexit") {
					t.Errorf("recovered %v", v)
				}
				if _, err := bulkhead.Do(t.Context(), b, nothing); err != nil {
					t.Errorf("the next call: %v", err)
				}
			})
		}
	}
}

// Acceptance case C43.
func TestC43_CapacityIsWholeAfterTimeoutsAndCancellationsInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 8, MaxQueue: 16, MaxWait: time.Second}))
		var held []*bulkhead.Permit
		for range 8 {
			held = append(held, acquire(t, b))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled, timedOut []<-chan ended
		for range 8 {
			timedOut = append(timedOut, queued(t.Context(), t, b, 1))
			cancelled = append(cancelled, queued(ctx, t, b, 1))
		}
		cancel()
		for _, c := range cancelled {
			if got := <-c; !errors.Is(got.err, context.Canceled) || errors.Is(got.err, backstay.ErrRejected) || got.after != 0 {
				t.Errorf("cancelled: %v after %v", got.err, got.after)
			}
		}
		for _, c := range timedOut {
			got := <-c
			full := wantFull(t, got.err)
			if got.after != time.Second || errors.Is(full, context.DeadlineExceeded) {
				t.Errorf("waited out: %v after %v", full, got.after)
			}
		}
		if b.Queued() != 0 || b.InFlight() != 8 {
			t.Errorf("%d queued, %d in flight", b.Queued(), b.InFlight())
		}
		for _, permit := range held {
			permit.Release(backstay.Outcome{})
		}
		wantIdle(t, b)
	})
}

// Acceptance case C51.
func TestC51_APanicReachesTheCallersOwnRecover(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{}))
	defer func() {
		if v := recover(); v != "boom" {
			t.Errorf("recovered %v", v)
		}
		wantIdle(t, b)
	}()
	_, _ = bulkhead.Do(t.Context(), b, func(context.Context) (int, error) { panic("boom") })
}

// Acceptance case C56.
func TestC56_ATimedOutCallThatGoesOnRunningKeepsItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		done := make(chan error)
		go func() {
			_, err := bulkhead.Do(ctx, b, func(ctx context.Context) (int, error) {
				time.Sleep(5 * time.Second) // deaf to ctx
				return 0, ctx.Err()
			})
			done <- err
		}()
		time.Sleep(2 * time.Second)
		if _, err := bulkhead.Do(t.Context(), b, nothing); !errors.Is(err, bulkhead.ErrFull) {
			t.Errorf("after its timeout another call gets %v", err)
		}
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wantIdle(t, b)
	})
}

// Acceptance case C59.
func TestC59_TimeInTheQueueIsNotTimeOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 1}))
		run := func() (began backstay.Instant) {
			began = backstay.Now()
			_, err := bulkhead.RunAt(t.Context(), &began, b, backstay.Plain[int]{}, struct{}{},
				func(context.Context, struct{}) (int, error) { return 0, nil })
			if err != nil {
				t.Error(err)
			}
			return began
		}
		early := backstay.Now()
		permit := acquire(t, b)
		time.AfterFunc(3*time.Second, func() { permit.Release(backstay.Outcome{}) })
		if waited := run().Sub(early); waited != 3*time.Second {
			t.Errorf("a call that queued for 3s began after %v", waited)
		}
	})
}

func TestACallThatDoesNotQueueBeganWhenThePipelineSaysSo(t *testing.T) {
	for _, kind := range kinds {
		b := must(bulkhead.New(kind.config))
		early := backstay.Now().Add(-time.Second)
		began := early
		_, err := bulkhead.RunAt(t.Context(), &began, b, backstay.Plain[int]{}, struct{}{},
			func(context.Context, struct{}) (int, error) { return 0, nil })
		if began != early || err != nil {
			t.Errorf("%s: it began %v later, %v", kind.name, began.Sub(early), err)
		}
	}
}

func TestACallerThatIsGoneGetsNoPermit(t *testing.T) {
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	b := must(bulkhead.New(bulkhead.Config{}))
	_, err := bulkhead.Do(ctx, b, func(context.Context) (int, error) {
		t.Error("called")
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) || errors.Is(err, backstay.ErrRejected) {
		t.Errorf("got %v", err)
	}
	wantIdle(t, b)
}

func TestHoldBodyKeepsThePermitUntilTheAnswerIsUsedUp(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 1, HoldBody: true}))
	call := func() (*answer, error) {
		return bulkhead.Run(t.Context(), b, exchange{}, struct{}{},
			func(context.Context, struct{}) (*answer, error) { return new(answer), nil })
	}
	first := must(call())
	if _, err := call(); !errors.Is(err, bulkhead.ErrFull) {
		t.Errorf("beside an open answer: %v", err)
	}
	first.done()
	second := must(call())
	first.done() // C15: twice is once
	if b.InFlight() != 1 {
		t.Errorf("%d in flight beside one open answer", b.InFlight())
	}
	second.done()
	wantIdle(t, b)
}

func TestHoldBodyFreesThePermitOfACallThatFails(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 1, HoldBody: true}))
	failure := errors.New("reset")
	_, err := bulkhead.Run(t.Context(), b, exchange{}, struct{}{},
		func(context.Context, struct{}) (*answer, error) { return nil, failure })
	if !errors.Is(err, failure) {
		t.Error(err)
	}
	wantIdle(t, b)
}

type brokenBind struct{ exchange }

func (brokenBind) Bind(*answer, backstay.Canceler) *answer { panic("bind") }

func TestHoldBodyFreesThePermitIfTheAnswerCannotBeBound(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 1, HoldBody: true}))
	func() {
		defer func() { _ = recover() }()
		_, _ = bulkhead.Run(t.Context(), b, brokenBind{}, struct{}{},
			func(context.Context, struct{}) (*answer, error) { return new(answer), nil })
	}()
	wantIdle(t, b)
}

func TestANilBulkheadIsNone(t *testing.T) {
	var b *bulkhead.Bulkhead
	got, err := bulkhead.Do(t.Context(), b, func(context.Context) (int, error) { return 7, nil })
	if got != 7 || err != nil {
		t.Errorf("Do: %d, %v", got, err)
	}
	permit, err := b.Acquire(t.Context(), 1)
	if err != nil {
		t.Error(err)
	}
	permit.Release(backstay.Outcome{})
	if _, ok := b.TryAcquire(t.Context(), 1<<60); !ok {
		t.Error("TryAcquire refuses")
	}
	if b.InFlight() != 0 || b.Queued() != 0 || b.Limit() != bulkhead.Unlimited || b.Saturated() || b.Clone(nil) != nil {
		t.Error("it counts")
	}
}

func TestUnlimitedAdmitsEverybodyAndCounts(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: bulkhead.Unlimited}))
	for range 1000 {
		acquire(t, b)
	}
	if b.InFlight() != 1000 || b.Limit() != bulkhead.Unlimited || b.Saturated() {
		t.Errorf("%d in flight of %d, saturated %v", b.InFlight(), b.Limit(), b.Saturated())
	}
}

func TestRunAsksTheContextForAWeightIfItIsWeighted(t *testing.T) {
	heavy := bulkhead.WithWeight(t.Context(), 3)
	for _, c := range []struct {
		name     string
		weighted bool
		ctx      context.Context
		want     int64
	}{
		{"a weight that is asked for", true, heavy, 3},
		{"a weight that is not", false, heavy, 1},
		{"no weight", true, t.Context(), 1},
		{"a weight that is none", true, bulkhead.WithWeight(t.Context(), -2), 1},
	} {
		b := must(bulkhead.New(bulkhead.Config{Weighted: c.weighted}))
		_, err := bulkhead.Do(c.ctx, b, func(context.Context) (int, error) {
			if got := b.InFlight(); got != c.want {
				t.Errorf("%s: %d in flight, want %d", c.name, got, c.want)
			}
			return 0, nil
		})
		if err != nil {
			t.Error(err)
		}
		wantIdle(t, b)
	}
}

func TestReleasingAPermitTwiceGivesItBackOnce(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{}))
	first, second := acquire(t, b), acquire(t, b)
	first.Release(backstay.Outcome{})
	first.Release(backstay.Outcome{})
	if b.InFlight() != 1 {
		t.Errorf("%d in flight, want 1", b.InFlight())
	}
	second.Release(backstay.Outcome{})
	wantIdle(t, b)
}

func TestAWeightBelowOneCountsAsOne(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{}))
	first, _ := b.TryAcquire(t.Context(), -5)
	second := must(b.Acquire(t.Context(), 0))
	if b.InFlight() != 2 {
		t.Errorf("%d in flight, want 2", b.InFlight())
	}
	first.Release(backstay.Outcome{})
	second.Release(backstay.Outcome{})
	wantIdle(t, b)
}

func TestAContextIsNotAskedWhatNobodyWantsToKnow(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{}))
	if _, err := bulkhead.Do(deaf{t.Context(), t}, b, nothing); err != nil {
		t.Error(err)
	}
}

// deaf fails the test if it is asked for a value.
type deaf struct {
	context.Context
	t *testing.T
}

func (c deaf) Value(any) any {
	c.t.Error("asked for a value")
	return nil
}
