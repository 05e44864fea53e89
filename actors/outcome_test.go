package actors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

func TestHowTheErrorsOfCallsAreTreatedByThoseWhoDoNotKnowActors(t *testing.T) {
	call := func(err error) error { return &actors.CallError{Actor: "thing/a", Method: "do", Err: err} }
	cut := func(err error) error { return call(fmt.Errorf("%w: %w", actors.ErrUnanswered, err)) }
	for _, row := range []struct {
		name string
		err  error
		want backstay.Class
		late bool // it matches context.DeadlineExceeded
	}{
		{"an expired request was refused, because it was too late", call(actors.ErrExpired), backstay.Rejected, true},
		{"a full mailbox is a refusal", call(actors.ErrMailboxFull), backstay.Rejected, false},
		{"a deadlock is a refusal", call(actors.ErrDeadlock), backstay.Rejected, false},
		{"a cancelled request is its caller's doing", call(actors.ErrCancelled), backstay.Canceled, false},
		{"what was given up is a fault that another attempt does not mend", call(actors.ErrPoison), backstay.Fault, false},
		{"an unknown method is the caller's mistake", call(actors.ErrNoMethod), backstay.Permanent, false},
		{"so is an argument that is too large", call(fmt.Errorf("%w: 9 MiB", actors.ErrTooLarge)), backstay.Permanent, false},
		{"a wait that the deadline cut short may be mended", cut(context.DeadlineExceeded), backstay.Transient, true},
		{"a wait that was cancelled is its caller's doing", cut(context.Canceled), backstay.Canceled, false},
		{"a node that was stopped may be another one next time", call(actors.ErrStopped), backstay.Transient, false},
		{"what a method says is an answer", &actors.Error{Message: "no"}, backstay.Permanent, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			wrapped := fmt.Errorf("placing the order: %w", row.err)
			if got := backstay.Classify(wrapped).Class; got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
			if got := errors.Is(wrapped, context.DeadlineExceeded); got != row.late {
				t.Errorf("matches context.DeadlineExceeded: %t", got)
			}
		})
	}
}
