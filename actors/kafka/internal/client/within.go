package client

import "context"

// Within runs f, which knows no context and which sarama's own timeouts bound,
// and returns when it has ended, or with the cause of ctx when that has.
func Within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type end struct {
		v   T
		err error
	}
	ended := make(chan end, 1)
	go func() {
		v, err := f()
		ended <- end{v, err}
	}()
	select {
	case e := <-ended:
		return e.v, e.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
