package hedge

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
)

func TestWhatTheEndOfOneCopyMeans(t *testing.T) {
	for name, tc := range map[string]struct {
		o       backstay.Outcome
		decides bool
		hastens bool
	}{
		"an answer decides":                  {backstay.Outcome{}, true, false},
		"the caller's mistake decides":       {backstay.Outcome{Class: backstay.Permanent}, true, false},
		"a fault decides":                    {backstay.Outcome{Class: backstay.Fault}, true, false},
		"a caller who gave up decides":       {backstay.Outcome{Class: backstay.Canceled}, true, false},
		"a transient failure hastens":        {backstay.Outcome{Class: backstay.Transient}, false, true},
		"one with a server's wait does not":  {backstay.Outcome{Class: backstay.Transient, RetryAfter: time.Second}, false, false},
		"one that must not be retried waits": {backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}}, false, false},
		"an overload is not added to":        {backstay.Outcome{Class: backstay.Overload}, false, false},
		"a rejection leaves it to others":    {backstay.Outcome{Class: backstay.Rejected}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if decides(tc.o) != tc.decides || hastens(tc.o) != tc.hastens {
				t.Errorf("decides %t, hastens %t", decides(tc.o), hastens(tc.o))
			}
		})
	}
}

func TestTheFirstFailureIsTheBestUnlessItWasNeverSent(t *testing.T) {
	failed := backstay.Outcome{Class: backstay.Transient}
	refused := backstay.Outcome{Class: backstay.Rejected}
	if better(failed, failed) || better(refused, failed) || better(refused, refused) || !better(failed, refused) {
		t.Error("wrong order")
	}
}
