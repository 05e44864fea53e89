package lazyctx

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
)

// The timer's look at the limit and the end that follows are one step: a Lift
// that was in time must not be overtaken by it.
func TestALimitThatWasLiftedNoLongerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(context.Background(), backstay.Now().Add(time.Second))
		defer c.Cancel()
		if !c.Lift() {
			t.Fatal("the limit has not passed")
		}
		c.expire(backstay.Now().Add(time.Hour))
		if err := c.Err(); err != nil || c.Expired() {
			t.Errorf("%v, expired %v", err, c.Expired())
		}
	})
}

func TestALiftWhileTheContextIsBeingArmedKeepsTheLimitAbove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		up := New(context.Background(), backstay.Now().Add(time.Minute))
		defer up.Cancel()
		c := New(up, backstay.Now().Add(time.Second))
		defer c.Cancel()
		stale := time.AfterFunc(time.Second, func() { c.check(backstay.Now()) }) // as arm makes it before the Lift
		c.Lift()
		c.hold(stale, nil)
		time.Sleep(2 * time.Second)
		if err := c.Err(); err != nil {
			t.Fatalf("after the lifted limit: %v", err)
		}
		c.mu.Lock()
		c.done, c.armed = make(chan struct{}), true
		c.mu.Unlock()
		<-c.done
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it ended after %v", took)
		}
	})
}
