package hedge_test

import (
	"errors"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

func TestErrorsSayWhatHappened(t *testing.T) {
	for want, err := range map[string]error{
		"hedge: another copy decided the race": hedge.ErrLost,
		"hedge: copy 2 panicked: abort":        &hedge.PanicError{Copy: 2, Value: errAbort},
		"hedge: copy 3 panicked: 7":            &hedge.PanicError{Copy: 3, Value: 7},
		"hedge: copy 2 called runtime.Goexit":  &hedge.PanicError{Copy: 2},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestAPanicErrorLeadsToAnErrorThatWasPanickedWith(t *testing.T) {
	if err := error(&hedge.PanicError{Copy: 2, Value: errAbort}); !errors.Is(err, errAbort) || backstay.Classify(err).Class != backstay.Fault {
		t.Errorf("%v is judged %v", err, backstay.Classify(err).Class)
	}
	if err := (&hedge.PanicError{Copy: 2, Value: 7}); err.Unwrap() != nil {
		t.Errorf("7 leads to %v", err.Unwrap())
	}
}
