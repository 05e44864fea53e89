package chaos

import (
	"context"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
)

// forever is a hold without an end of its own.
const forever = time.Duration(1<<63 - 1)

// hold is what a fault holds something up with. All that ends it is here, so
// that nothing stays behind when a fault is over.
type hold struct {
	until  time.Time       // the end of the fault; zero: none
	over   <-chan struct{} // the faults were replaced or switched off
	closed <-chan struct{} // what is held up has been closed; nil: it cannot be
}

// wait waits for d. It returns early, and says so, where the fault is over;
// with an error where ctx ends, or what is held up is closed.
func (h hold) wait(ctx context.Context, d time.Duration) (over bool, err error) {
	cut := false
	if !h.until.IsZero() {
		if left := time.Until(h.until); left < d {
			d, cut = left, true
		}
	}
	var passed <-chan time.Time
	if d != forever {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-passed:
		return cut, nil
	case <-h.over:
		return true, nil
	case <-h.closed:
		return false, http.ErrBodyReadAfterClose
	case <-ctx.Done():
		return false, backstay.ContextError(ctx)
	}
}
