package bulkhead_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

func TestTheQueueIsServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 5}))
		permit := acquire(t, b)
		var waiters []<-chan ended
		for range 5 {
			waiters = append(waiters, queued(t.Context(), t, b, 1))
		}
		for i, w := range waiters {
			permit.Release(backstay.Outcome{})
			synctest.Wait()
			if len(w) != 1 || b.Queued() != int64(4-i) {
				t.Fatalf("waiter %d was not next; %d queued", i, b.Queued())
			}
			permit = (<-w).permit
		}
		permit.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestAFullQueueRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 2}))
		permit := acquire(t, b)
		first, second := queued(t.Context(), t, b, 1), queued(t.Context(), t, b, 1)
		third := <-queued(t.Context(), t, b, 1)
		if full := wantFull(t, third.err); full.Queued != 2 || full.Err != nil || third.after != 0 {
			t.Errorf("refused with %+v after %v", full, third.after)
		}
		permit.Release(backstay.Outcome{})
		(<-first).permit.Release(backstay.Outcome{})
		(<-second).permit.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestNobodyOvertakesAHeavyCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 4, MaxQueue: 4}))
		held := acquire(t, b)
		heavy := queued(t.Context(), t, b, 4)
		if _, ok := b.TryAcquire(t.Context(), 1); ok {
			t.Error("a light call got past by TryAcquire")
		}
		light := queued(t.Context(), t, b, 1)
		if !b.Saturated() {
			t.Error("with a queue it is not saturated")
		}
		held.Release(backstay.Outcome{})
		synctest.Wait()
		if len(heavy) != 1 || len(light) != 0 {
			t.Errorf("heavy %d, light %d", len(heavy), len(light))
		}
		(<-heavy).permit.Release(backstay.Outcome{})
		(<-light).permit.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestAHeavyCallThatGivesUpLetsLighterOnesIn(t *testing.T) {
	for name, giveUp := range map[string]func(cancel func()){
		"by cancelling":  func(cancel func()) { cancel() },
		"by waiting out": func(func()) { time.Sleep(time.Second - time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := must(bulkhead.New(bulkhead.Config{Limit: 4, MaxQueue: 4, MaxWait: time.Second}))
				held := acquire(t, b)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				heavy := queued(ctx, t, b, 4)
				time.Sleep(time.Millisecond)
				light := queued(t.Context(), t, b, 1)
				giveUp(cancel)
				synctest.Wait()
				if len(heavy) != 1 || len(light) != 1 {
					t.Fatalf("heavy %d, light %d", len(heavy), len(light))
				}
				got := <-light
				if got.err != nil {
					t.Error(got.err)
				}
				got.permit.Release(backstay.Outcome{})
				held.Release(backstay.Outcome{})
				wantIdle(t, b)
			})
		})
	}
}

func TestAWeightAboveTheLimitIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 4, MaxQueue: 4}))
		_, err := b.Acquire(t.Context(), 5)
		if full := wantFull(t, err); full.Weight != 5 || full.Limit != 4 {
			t.Errorf("refused with %+v", full)
		}
		wantIdle(t, b)
	})
}

func TestADeadlineThatPassesInTheQueueIsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 1, MaxWait: time.Minute}))
		held := acquire(t, b)
		cause := errors.New("too slow for me")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		_, err := bulkhead.Do(ctx, b, nothing)
		for _, want := range []error{bulkhead.ErrFull, backstay.ErrRejected, context.DeadlineExceeded, cause} {
			if !errors.Is(err, want) {
				t.Errorf("%v does not match %v", err, want)
			}
		}
		if o := backstay.Judge(ctx, backstay.Plain[int]{}, 0, err); o.Class != backstay.Rejected {
			t.Errorf("judged %v", o.Class)
		}
		held.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestACancellationInTheQueueIsTheCallersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen events
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 1}, bulkhead.WithScope(&backstay.Scope{Observer: &seen})))
		held := acquire(t, b)
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		waiter := queued(ctx, t, b, 1)
		cancel(cause)
		err := (<-waiter).err
		if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) || errors.Is(err, backstay.ErrRejected) {
			t.Errorf("got %v", err)
		}
		if len(seen.Events()) != 0 {
			t.Errorf("told of %v", seen.Events())
		}
		held.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestAPermitThatComesTogetherWithACancellationIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 1}))
		admitted := 0
		for i := range 2000 {
			held := acquire(t, b)
			ctx, cancel := context.WithCancel(t.Context())
			waiter := queued(ctx, t, b, 1)
			if i%2 == 0 {
				cancel()
				held.Release(backstay.Outcome{})
			} else {
				held.Release(backstay.Outcome{})
				cancel()
			}
			if got := <-waiter; got.err == nil {
				if i%2 == 0 {
					t.Fatal("admitted after it was cancelled")
				}
				admitted++
				got.permit.Release(backstay.Outcome{})
			}
			wantIdle(t, b)
		}
		t.Logf("%d of 2000 were admitted", admitted)
	})
}

func TestEveryWaiterWaitsAsLongAsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 10, MaxWait: time.Second}))
		held := acquire(t, b)
		var waiters []<-chan ended
		for range 5 {
			waiters = append(waiters, queued(t.Context(), t, b, 1))
			time.Sleep(300 * time.Millisecond)
		}
		for i, w := range waiters {
			got := <-w
			if wantFull(t, got.err); got.after != time.Second {
				t.Errorf("waiter %d waited %v", i, got.after)
			}
		}
		held.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestALongestWaitBeginsAnewAfterAnEmptyQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 1, MaxWait: time.Second}))
		held := acquire(t, b)
		for range 3 {
			waiter := queued(t.Context(), t, b, 1)
			time.Sleep(600 * time.Millisecond)
			held.Release(backstay.Outcome{})
			held = (<-waiter).permit
		}
		got := <-queued(t.Context(), t, b, 1)
		if wantFull(t, got.err); got.after != time.Second {
			t.Errorf("waited %v", got.after)
		}
		held.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestALimitThatIsRaisedAdmitsWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 3}))
		clone := b.Clone(nil)
		held := []*bulkhead.Permit{acquire(t, b)}
		first, second, third := queued(t.Context(), t, b, 1), queued(t.Context(), t, b, 1), queued(t.Context(), t, b, 1)
		if err := b.SetLimit(3); err != nil {
			t.Fatal(err)
		}
		held = append(held, (<-first).permit, (<-second).permit)
		if b.Queued() != 1 || b.Limit() != 3 || clone.Limit() != 1 {
			t.Errorf("%d queued, limit %d, the clone's %d", b.Queued(), b.Limit(), clone.Limit())
		}
		if err := b.SetLimit(bulkhead.Unlimited); err != nil {
			t.Fatal(err)
		}
		for _, permit := range append(held, (<-third).permit) {
			permit.Release(backstay.Outcome{})
		}
		if b.InFlight() != 0 || b.Queued() != 0 || b.Limit() != bulkhead.Unlimited {
			t.Errorf("%d in flight, %d queued, limit %d", b.InFlight(), b.Queued(), b.Limit())
		}
	})
}

func TestALimitThatIsCutRefusesWaitersThatHaveBecomeTooHeavy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 4, MaxQueue: 3}))
		held := acquire(t, b)
		heavy, light := queued(t.Context(), t, b, 4), queued(t.Context(), t, b, 2)
		if err := b.SetLimit(2); err != nil {
			t.Fatal(err)
		}
		wantFull(t, (<-heavy).err)
		if len(light) != 0 {
			t.Error("over the new limit")
		}
		held.Release(backstay.Outcome{})
		(<-light).permit.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestSetLimitRefusesWhatConfigRefuses(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{}))
	adaptive := must(bulkhead.New(bulkhead.Config{Adaptive: &bulkhead.AdaptiveConfig{}}))
	if err := b.SetLimit(-5); err == nil || b.Limit() != 64 {
		t.Errorf("%v, limit %d", err, b.Limit())
	}
	if err := adaptive.SetLimit(5); err == nil || adaptive.Limit() != 64 {
		t.Errorf("%v, limit %d", err, adaptive.Limit())
	}
}
