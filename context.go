package backstay

import (
	"context"
	"fmt"
)

// ContextError returns nil while ctx lives, and afterwards its error together
// with its cancel cause, so that errors.Is finds both.
func ContextError(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
