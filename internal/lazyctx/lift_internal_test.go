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
