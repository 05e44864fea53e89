package backstay

import (
	"context"
	"errors"
	"fmt"
)

// ContextError returns nil while ctx lives, and afterwards its error together
// with its cancel cause, so that errors.Is finds both.
func ContextError(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(err, cause) { // != panics where both are of a type that cannot be compared
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
