package grpcmw

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/idempotency"
)

// statusError gives an error of this module a status. Everything else about
// the error stays: what it matches, what it unwraps to, how it is judged.
type statusError struct {
	error
	status *status.Status
}

// Unwrap returns the error itself.
func (e *statusError) Unwrap() error { return e.error }

// GRPCStatus returns the status.
func (e *statusError) GRPCStatus() *status.Status { return e.status }

// withStatus returns err with the status that fits it, for a call under ctx;
// err itself where its chain tells that status already.
func withStatus(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	code := codeOf(ctx, err)
	if s, ok := status.FromError(err); ok && s.Code() == code {
		return err
	}
	return &statusError{err, status.New(code, err.Error())}
}

// returned is withStatus for the caller of a [Client]: a status that is within
// err counts word for word. Left to itself, grpc-go takes the text of everything
// around it for the message.
func returned(ctx context.Context, err error) error {
	err = withStatus(ctx, err)
	if _, is := err.(statusHolder); is { //nolint:errorlint // where they are one, all is well
		return err
	}
	if within, ok := errors.AsType[statusHolder](err); ok {
		return &statusError{err, within.GRPCStatus()}
	}
	return err
}

// statusHolder is an error that is a status.
type statusHolder interface {
	error
	GRPCStatus() *status.Status
}

// codeOf returns the code that tells best how a call under ctx ended in err. It
// is not always that of the last attempt: a caller who left between two
// attempts has left, whatever the first of them came to.
func codeOf(ctx context.Context, err error) codes.Code {
	if f, ok := errors.AsType[*fallback.Error](err); ok && f.Clear != nil {
		if s, ok := status.FromError(f.Clear); ok {
			return s.Code() // what the configuration wants callers to see
		}
	}
	if e, ok := errors.AsType[*idempotency.Error](err); ok {
		return codeOfKey(e)
	}
	s, known := status.FromError(err)
	switch {
	case backstay.Classify(err).Class == backstay.Rejected && errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, deadline.ErrExceeded):
		return codes.DeadlineExceeded
	case backstay.Classify(err).Class == backstay.Rejected:
		return codes.Unavailable
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return status.FromContextError(ctx.Err()).Code()
	case known:
		return s.Code()
	default:
		return status.FromContextError(err).Code()
	}
}

// codeOfKey returns the code for a refusal of an idempotency guard.
func codeOfKey(e *idempotency.Error) codes.Code {
	switch {
	case errors.Is(e, idempotency.ErrInFlight), errors.Is(e, idempotency.ErrLeaseLost):
		return codes.Aborted
	case errors.Is(e, idempotency.ErrAnswerNotKept):
		return codes.AlreadyExists
	case errors.Is(e, idempotency.ErrStoreFull), errors.Is(e, idempotency.ErrStoreFailed):
		return codes.Unavailable
	default:
		return codes.InvalidArgument
	}
}
