package grpcmw

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/wire"
)

// attemptError is the error of one attempt: the backend's own, with what its
// trailer says about another attempt. It is its own status, so that callers
// who ask for that, or compare, see no difference; and policies above this
// client find the server's wait in it.
type attemptError struct {
	err     error
	reply   *Reply // what came beside it; its message is not usable
	outcome backstay.Outcome
}

// Error is that of the backend's error.
func (f *attemptError) Error() string { return f.err.Error() }

// Unwrap returns the backend's error as grpc-go made it.
func (f *attemptError) Unwrap() error { return f.err }

// GRPCStatus is that of the backend's error.
func (f *attemptError) GRPCStatus() *status.Status {
	s, ok := status.FromError(f.err)
	if !ok {
		s = status.FromContextError(f.err)
	}
	return s
}

// Outcome is how the attempt is judged; see [Classify].
func (f *attemptError) Outcome() backstay.Outcome { return f.outcome }

// withoutConnection judges an attempt that has ended before it had a
// connection. What is not for want of one is the caller's mistake: metadata
// that cannot be sent, a compressor that is not installed.
func withoutConnection(o backstay.Outcome, code codes.Code) backstay.Outcome {
	o.Unsent = true
	switch code { //nolint:exhaustive // the rest is alike
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
	default:
		o.Class = backstay.Permanent
	}
	return o
}

// failed returns the error of an attempt at q that ended in r and err.
func (c *Client) failed(q *Request, r *Reply, err error) error {
	if _, judged := errors.AsType[backstay.Judged](err); judged {
		return err // of a client or an interceptor below, which knows better
	}
	f := &attemptError{err: err, reply: r, outcome: Classify(err, r.Trailer)}
	code := f.GRPCStatus().Code()
	switch {
	case r.unsent():
		f.outcome = withoutConnection(f.outcome, code)
	case !r.heard() && (code == codes.Internal || code == codes.ResourceExhausted) && !q.sendable():
		f.outcome = backstay.Outcome{Class: backstay.Permanent}
	case code == codes.Aborted && q.keyed && f.outcome.RetryAfter > 0:
		f.outcome.Class = backstay.Transient // the first copy is still being worked on
	case c.retryable[code]:
		f.outcome.Class = backstay.Transient
		f.outcome.Final = wire.ReadSignals(carrier(r.Trailer)).Final // not for the want of a wait
	}
	return f
}
