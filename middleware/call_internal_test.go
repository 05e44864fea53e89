package middleware

import "testing"

func TestALateCopyDoesNotTurnTheCountBack(t *testing.T) {
	var c call[int, int]
	for _, n := range []int32{1, 1, 2, 1} {
		c.count(n)
	}
	if got := c.sent.Load(); got != 2 {
		t.Errorf("%d attempts were sent", got)
	}
}
