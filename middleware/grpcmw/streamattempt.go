package grpcmw

import (
	"context"
	"time"

	"github.com/backstay-go/backstay/timeout"
)

// streamAttempt is the context of one attempt at a stream, which lives on in
// the stream. Limits end it as a cancellation does, and not as deadlines: one
// of those would be told to the server, and stay when its time is over.
type streamAttempt struct {
	context.Context //nolint:containedctx // it is one
	cancel          context.CancelCauseFunc
	name            string // of the target
}

func newStreamAttempt(parent context.Context, name string) *streamAttempt {
	ctx, cancel := context.WithCancelCause(parent)
	return &streamAttempt{Context: ctx, cancel: cancel, name: name}
}

// end frees what the context holds.
func (a *streamAttempt) end() { a.cancel(nil) }

// limit ends the attempt after d, unless inTime is called before; that reports
// whether it was. A d of zero or less is no limit.
func (a *streamAttempt) limit(d time.Duration) (inTime func() bool) {
	if d <= 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(d, func() { a.cancel(&timeout.Error{Name: a.name, After: d}) }).Stop
}

// cutShort returns err, or where a limit is what has ended the attempt, that
// limit's error around it.
func (a *streamAttempt) cutShort(err error) error {
	cut, ok := context.Cause(a.Context).(*timeout.Error) //nolint:errorlint // only our own, which is not wrapped
	if !ok {
		return err
	}
	return &timeout.Error{Name: a.name, After: cut.After, Err: err}
}
