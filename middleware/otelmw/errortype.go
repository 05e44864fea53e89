package otelmw

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

// errorType is the attribute error.type: what is known of err in one of few
// words, or else its Go type.
func errorType(err error) attribute.KeyValue {
	var slow interface{ Timeout() bool }
	method, returned := errors.AsType[*actors.Error](err)
	switch {
	case returned && method.Code != "":
		return semconv.ErrorTypeKey.String(valid(method.Code))
	case errors.Is(err, backstay.ErrRejected):
		return semconv.ErrorTypeKey.String(backstay.Rejected.String())
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return semconv.ErrorTypeKey.String("timeout")
	case errors.Is(err, context.Canceled):
		return semconv.ErrorTypeKey.String(backstay.Canceled.String())
	default:
		return semconv.ErrorType(innermost(err))
	}
}

// innermost returns the error at the end of the chain: those before it only
// say where it passed.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
