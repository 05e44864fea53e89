package middleware

import (
	"context"
	"errors"
	"testing"

	"github.com/backstay-go/backstay"
)

func TestALateCopyDoesNotTurnTheCountBack(t *testing.T) {
	var c call[int, int]
	for _, n := range []int32{1, 1, 2, 1} {
		c.count(n)
	}
	if got := c.sent.Load(); got != 2 {
		t.Errorf("%d attempts were sent", got)
	}
}

// An attempt that is left behind may be about to begin when its caller goes.
func TestWhatACallIsAccountedForIsAllThatItSends(t *testing.T) {
	c := &call[struct{}, int]{pipeline: &Pipeline{}, exchange: backstay.Plain[int]{}, loud: true}
	made := 0
	send := func(n int32) error {
		_, err := sent(t.Context(), 0, n, c, struct{}{}, func(context.Context, struct{}) (int, error) { made++; return 0, nil })
		return err
	}
	for _, n := range []int32{1, 2, 1} { // the last one is a late copy
		if err := send(n); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.account(); n != 2 {
		t.Errorf("it is accounted for with %d attempts", n)
	}
	for _, n := range []int32{1, 3} {
		if err := send(n); !errors.Is(err, context.Canceled) {
			t.Errorf("attempt %d afterwards: %v", n, err)
		}
	}
	if made != 3 {
		t.Errorf("%d were made, want 3", made)
	}
}
