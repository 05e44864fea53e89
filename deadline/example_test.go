package deadline_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/deadline"
)

// A call that could not end in time is not begun.
func ExampleDo() {
	policy, err := deadline.New(deadline.Config{Total: time.Second, Need: 100 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	hurried, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	_, err = deadline.Do(hurried, policy, func(context.Context) (string, error) {
		return "", errors.New("not reached")
	})
	fmt.Println(errors.Is(err, deadline.ErrTooLate), errors.Is(err, context.DeadlineExceeded))
	// Output: true true
}

// A handler asks before it begins a piece of work that takes its time.
func ExampleNeed() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(deadline.Need(ctx, time.Second))
	fmt.Println(errors.Is(deadline.Need(ctx, time.Hour), deadline.ErrTooLate))
	// Output:
	// <nil>
	// true
}

// Ten seconds are left for the way back.
func ExampleReserve() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	work, cancel := deadline.Reserve(ctx, 10*time.Second)
	defer cancel()
	left, _ := deadline.Remaining(work)
	fmt.Println(left.Round(time.Second))
	// Output: 50s
}
