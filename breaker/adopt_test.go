package breaker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

func TestAnotherConfigurationIsAdoptedWithTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breakerOf(t, breaker.Config{Consecutive: 3, OpenFor: time.Second})
		model := breakerOf(t, breaker.Config{Consecutive: 2, OpenFor: time.Minute})
		fail := func() { reported(b, backstay.Transient) }
		fail()
		if !b.Adopt(model) || b.State() != breaker.Closed || b.Counts().Failures != 1 {
			t.Fatalf("%v, %+v", b.State(), b.Counts())
		}
		fail()
		if b.State() != breaker.Open {
			t.Error("it does not trip by the new configuration, with the failure before")
		}
		time.Sleep(2 * time.Second)
		if b.State() != breaker.Open {
			t.Error("it does not stay open as long as the new configuration says")
		}
		if !b.Adopt(breakerOf(t, breaker.Config{})) || b.State() != breaker.Open {
			t.Error("an opening ended")
		}
		if model.State() != breaker.Closed {
			t.Error("the model has the state")
		}
	})
}

func TestWindowsThatAreNotAlikeAreNotAdopted(t *testing.T) {
	for name, c := range map[string]breaker.Config{
		"size":      {Window: 40},
		"time":      {TimeWindow: time.Minute},
		"slow rule": {SlowRatio: 0.5, SlowAfter: time.Second},
		"long rows": {Consecutive: 100},
	} {
		b := breakerOf(t, breaker.Config{})
		if b.Adopt(breakerOf(t, c)) {
			t.Errorf("%s: it was adopted", name)
		}
	}
	var none *breaker.Breaker
	if none.Adopt(breakerOf(t, breaker.Config{})) || breakerOf(t, breaker.Config{}).Adopt(nil) {
		t.Error("nil adopted, or was adopted")
	}
}

func breakerOf(t *testing.T, c breaker.Config) *breaker.Breaker {
	t.Helper()
	b, err := breaker.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func reported(b *breaker.Breaker, class backstay.Class) {
	if pass, err := b.Allow(context.Background()); err == nil {
		pass.Done(context.Background(), backstay.Outcome{Class: class}, 0)
	}
}
