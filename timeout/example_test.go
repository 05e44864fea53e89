package timeout_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/timeout"
)

// The attempt is cancelled at its limit, and its error cannot be mistaken for
// the caller's own deadline.
func ExampleDo() {
	policy, err := timeout.New(timeout.Config{After: time.Millisecond})
	if err != nil {
		panic(err)
	}
	_, err = timeout.Do(context.Background(), policy, func(ctx context.Context) (string, error) {
		<-ctx.Done() // a backend that does not answer
		return "", ctx.Err()
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, timeout.ErrTimeout), errors.Is(err, context.DeadlineExceeded))
	// Output:
	// timeout: no answer within 1ms
	// true true
}

// One call may take longer than the others.
func ExampleWith() {
	policy, err := timeout.New(timeout.Config{After: time.Second})
	if err != nil {
		panic(err)
	}
	patient := timeout.With(context.Background(), time.Hour)
	left, err := timeout.Do(patient, policy, func(ctx context.Context) (time.Duration, error) {
		end, _ := ctx.Deadline()
		return time.Until(end).Round(time.Minute), nil
	})
	fmt.Println(left, err)
	// Output: 1h0m0s <nil>
}
