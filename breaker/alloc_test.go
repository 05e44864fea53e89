package breaker_test

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestAHealthyCallAllocatesNothing(t *testing.T) {
	limited, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for name, c := range map[string]breaker.Config{
		"calls":        {},
		"many calls":   {Window: 1000},
		"time":         {TimeWindow: time.Minute},
		"slow rule":    {SlowAfter: time.Minute, SlowRatio: 0.5},
		"a cut's rule": {SlowAfter: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newBreaker(t, c)
			n := 0
			testkit.Allocs(t, 0, func() {
				_, _ = breaker.Do(limited, b, func(context.Context) (int, error) { n++; return n, nil })
			})
		})
	}
}

func TestACallOfAPipelineAllocatesNothing(t *testing.T) {
	b, _ := newBreaker(t, breaker.Config{SlowAfter: time.Minute, SlowRatio: 0.5})
	n := 0
	testkit.Allocs(t, 0, func() {
		began := backstay.Now()
		_, _ = breaker.RunAt(t.Context(), &began, b, backstay.Plain[int]{}, struct{}{}, func(context.Context, struct{}) (int, error) {
			began = backstay.Now()
			n++
			return n, nil
		})
	})
}

func TestAllowAllocatesNothingWhileClosed(t *testing.T) {
	b, _ := newBreaker(t, breaker.Config{})
	testkit.Allocs(t, 0, func() {
		pass, err := b.Allow(t.Context())
		if err == nil {
			pass.Done(t.Context(), success, 0)
		}
	})
}

func TestAFailureAllocatesNothing(t *testing.T) {
	b, _ := newBreaker(t, breaker.Config{FailureRatio: 1})
	n := 0
	testkit.Allocs(t, 0, func() {
		n++
		_, _ = breaker.Do(t.Context(), b, func(context.Context) (int, error) {
			if n%2 == 0 {
				return n, errBackend
			}
			return n, nil
		})
	})
}

func TestARejectionAllocatesItsErrorOnly(t *testing.T) {
	b := must(breaker.New(breaker.Config{}, breaker.WithScope(&backstay.Scope{Policy: "payments", Key: "db"})))
	b.ForceOpen()
	n := 0
	testkit.Allocs(t, 1, func() {
		_, _ = breaker.Do(t.Context(), b, func(context.Context) (int, error) { n++; return n, nil })
	})
}

func TestABreakerThatNeverOpenedTakes48Bytes(t *testing.T) {
	if size := unsafe.Sizeof(breaker.Breaker{}); size > 48 {
		t.Errorf("a breaker takes %d bytes", size)
	}
	model, _ := newBreaker(t, breaker.Config{})
	var keep *breaker.Breaker
	testkit.Allocs(t, 1, func() {
		keep = model.Clone(nil)
		_ = call(t.Context(), keep, errBackend)
	})
	wantState(t, keep, breaker.Closed)
}
