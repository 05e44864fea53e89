package main

import (
	"context"

	"connectrpc.com/connect"

	"github.com/backstay-go/backstay/retry"
)

// marks is an interceptor that says which calls may be repeated: those whose
// schema sets an idempotency_level. For HTTP they are all POST, of which it
// knows nothing.
func marks(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if spec := req.Spec(); spec.IsClient && spec.IdempotencyLevel != connect.IdempotencyUnknown {
			ctx = retry.MarkRepeatable(ctx)
		}
		return next(ctx, req)
	}
}
