package backstay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want backstay.Outcome
	}{
		{"no error is a success", nil, backstay.Outcome{}},
		{"an unknown error is transient", io.ErrUnexpectedEOF, backstay.Outcome{Class: backstay.Transient}},
		{"a deadline is transient", context.DeadlineExceeded, backstay.Outcome{Class: backstay.Transient}},
		{"a cancellation is canceled", fmt.Errorf("read: %w", context.Canceled), backstay.Outcome{Class: backstay.Canceled}},
		{"a rejection is rejected", fmt.Errorf("open: %w", backstay.ErrRejected), backstay.Outcome{Class: backstay.Rejected}},
		{"a mark decides", fmt.Errorf("parse: %w", backstay.PermanentError(io.EOF)), backstay.Outcome{Class: backstay.Permanent}},
		{
			"a wait is overload", backstay.RetryAfter(io.EOF, time.Second),
			backstay.Outcome{Class: backstay.Overload, RetryAfter: time.Second},
		},
	} {
		if got := backstay.Classify(c.err); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if !errors.Is(backstay.PermanentError(io.EOF), io.EOF) || backstay.PermanentError(nil) != nil || backstay.RetryAfter(nil, 1) != nil {
		t.Error("marks must unwrap, and leave nil alone")
	}
}

func TestJudgeKnowsTheCallerFromTheBackend(t *testing.T) {
	x := backstay.Plain[int]{}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if o := backstay.Judge(gone, x, 0, io.EOF); o.Class != backstay.Canceled {
		t.Errorf("an error after the caller left: %v", o.Class)
	}
	if o := backstay.Judge(gone, x, 0, nil); o.Class != backstay.Success {
		t.Errorf("an answer after the caller left: %v", o.Class)
	}
	if o := backstay.Judge(gone, x, 0, backstay.ErrRejected); o.Class != backstay.Rejected {
		t.Errorf("a refusal after the caller left: %v", o.Class)
	}
	if o := backstay.Judge(context.Background(), x, 0, context.DeadlineExceeded); o.Class != backstay.Transient {
		t.Errorf("somebody else's deadline: %v", o.Class)
	}
}

func TestClassNamesAndKinds(t *testing.T) {
	for c := backstay.Success; c <= backstay.Rejected; c++ {
		if c.String() == "unknown" || c.Retryable() && !c.Failure() {
			t.Errorf("class %d: %v", c, c)
		}
	}
	if backstay.Class(99).String() != "unknown" || backstay.Fault.Retryable() || !backstay.Fault.Failure() {
		t.Error("classes")
	}
}

func TestUnderMovesEveryFault(t *testing.T) {
	err := backstay.Check(
		backstay.Setting{Path: "base", Value: -1, Allowed: "must be positive"},
		backstay.Setting{Path: "cap", Value: 1, Valid: true},
		backstay.Setting{Path: "ratio", Value: 2.0, Allowed: "must be at most 1"},
	)
	err = backstay.Under("payments", errors.Join(backstay.Under("retry", err), io.EOF))
	want := "payments.retry.base: -1 is not allowed: must be positive\n" +
		"payments.retry.ratio: 2 is not allowed: must be at most 1\nEOF"
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v", err)
	}
	if backstay.Under("x", nil) != nil || backstay.Check() != nil {
		t.Error("nil must stay nil")
	}
}

func TestInstantsFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := backstay.Now()
		time.Sleep(time.Second)
		b := backstay.Now()
		if b.Sub(a) != time.Second || a.Add(time.Second) != b || a <= 0 {
			t.Errorf("%d then %d", a, b)
		}
		later := time.Now().Add(time.Minute)
		if got := b.Until(later); got != time.Minute {
			t.Errorf("until a monotonic time: %v", got)
		}
		if got := b.Until(later.Round(0)); got != time.Minute {
			t.Errorf("until a wall time: %v", got)
		}
		if got := a.Until(later.Round(0)); got != time.Minute+time.Second {
			t.Errorf("from an earlier instant until a wall time: %v", got)
		}
		if !b.Time().Equal(time.Now()) {
			t.Errorf("back to a time: %v, now %v", b.Time(), time.Now())
		}
	})
}
