package grpcmw_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

func TestAnIdempotentTargetIsRepeatedAndHedgedWhateverTheMethod(t *testing.T) {
	virtual(t, func(t *testing.T) {
		target := retries()
		target.Idempotent = true
		e := failing(2, down)
		if got, err := call(t.Context(), connect(t, e, target), "x"); got != "re: x" || err != nil || e.calls.Load() != 3 {
			t.Errorf("got %q, %v after %d calls", got, err, e.calls.Load())
		}
		target = hedged()
		target.Idempotent = true
		e = scripted(after(time.Hour, "first", nil), after(0, "copy", nil))
		if got, err := call(t.Context(), connect(t, e, target), "x"); got != "copy" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// failingBetween answers all calls of e but those between two numbers.
func failingBetween(e *echo, from, to int) func(context.Context, *text) (*text, error) {
	return func(ctx context.Context, req *text) (*text, error) {
		if n := e.came(ctx); n > from && n < to {
			return nil, down
		}
		return wrapperspb.String("re: " + req.GetValue()), nil
	}
}

// A target that is put in force later changes what the Client itself does, too:
// its keys, their header, whom it tells; and calls that were not hedged are.
func TestATargetThatIsAppliedCountsFromTheNextCallOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = failingBetween(e, 1, 4)
		c := client(t, only("test"))
		cc := dial(t, e.serve(t), c)
		if _, err := call(t.Context(), cc, "x"); err != nil {
			t.Fatal(err)
		}
		next := retries()
		next.Idempotency = &idempotency.Config{Generate: true, Header: "Request-Key"}
		next.Propagate = middleware.Propagation{Hosts: []string{"echo"}}
		next.Hedge = &hedge.Config{Delay: time.Hour}
		if err := c.Pipelines().Apply(next); err != nil {
			t.Fatal(err)
		}
		if got, err := call(t.Context(), cc, "x"); got != "re: x" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if len(e.metadata(1, "request-key")) != 0 || len(e.metadata(2, "request-key")) != 1 || e.metadata(4, "x-backstay-attempt")[0] != "3" {
			t.Errorf("the calls came with %v", e.seen)
		}
		next.Idempotency = &idempotency.Config{Header: "Key-Bin"}
		if err := c.Pipelines().Apply(next); err == nil || !strings.Contains(err.Error(), "idempotency.header") {
			t.Errorf("got %v", err)
		}
	})
}
