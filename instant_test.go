package backstay_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
)

func TestUntilSaysTheLongestDurationWhereATimeIsTooFarAway(t *testing.T) {
	far := map[string]time.Time{
		"the year 9999":              time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		"the longest duration ahead": time.Now().Add(math.MaxInt64),
	}
	check := func(t *testing.T) {
		for name, end := range far {
			if got := backstay.Now().Until(end); got < 200*365*24*time.Hour {
				t.Errorf("until %s: %v", name, got)
			}
		}
	}
	check(t)
	synctest.Test(t, check)
	if got := backstay.Now().Until(time.Time{}); got > -200*365*24*time.Hour {
		t.Errorf("until the zero time: %v", got)
	}
}

// faults is an error of a type that cannot be compared.
type faults []error

func (faults) Error() string { return "several faults" }

// ended is a context that ended with an error of a strange type.
type ended struct{ context.Context }

func (ended) Err() error { return faults{errors.New("one")} }

func TestContextErrorTakesErrorsThatCannotBeCompared(t *testing.T) {
	if err := backstay.ContextError(ended{context.Background()}); err == nil {
		t.Error("nil")
	}
}

func TestAnObserverThatPanicsDoesNotHideEventsFromTheNext(t *testing.T) {
	var seen []backstay.Kind
	broken := backstay.ObserverFunc(func(context.Context, backstay.Event) { panic("boom") })
	healthy := backstay.ObserverFunc(func(_ context.Context, e backstay.Event) { seen = append(seen, e.Kind) })
	scope := &backstay.Scope{Observer: backstay.Observers(broken, broken, healthy)}
	scope.Emit(context.Background(), backstay.Event{Kind: backstay.CallDone})
	if len(seen) != 2 || seen[0] != backstay.CallDone || seen[1] != backstay.CallbackPanicked {
		t.Errorf("the healthy observer saw %q", seen)
	}
}
