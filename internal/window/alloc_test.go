package window_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/internal/window"
)

func TestCountingAllocatesNothing(t *testing.T) {
	l, r, now := window.NewLast(1000), window.NewRolling(time.Second, 10), backstay.Instant(1)
	testkit.Allocs(t, 0, func() {
		now = now.Add(30 * time.Millisecond)
		l.Add(true, false)
		r.Add(now, false, true)
		_, _ = l.Counts(), r.Counts(now)
	})
}
