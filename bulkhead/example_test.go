package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

func ExampleDo() {
	b, err := bulkhead.New(bulkhead.Config{Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	answer, err := bulkhead.Do(ctx, b, func(ctx context.Context) (string, error) {
		// A second call beside this one is one too many.
		_, err := bulkhead.Do(ctx, b, func(context.Context) (string, error) { return "never", nil })
		return "first", err
	})
	fmt.Println(answer)
	fmt.Println(err)
	fmt.Println(errors.Is(err, bulkhead.ErrFull), errors.Is(err, backstay.ErrRejected))
	// Output:
	// first
	// bulkhead: full: 1 of 1 in flight, 0 queued
	// true true
}

// A permit in two steps is for what does not fit into a function.
func ExampleBulkhead_Acquire() {
	b, err := bulkhead.New(bulkhead.Config{Limit: 10, MaxQueue: 100, MaxWait: 50 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	permit, err := b.Acquire(context.Background(), 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.InFlight(), "of", b.Limit())
	permit.Release(backstay.Outcome{})
	fmt.Println(b.InFlight(), "of", b.Limit())
	// Output:
	// 3 of 10
	// 0 of 10
}

func ExampleWithPriority() {
	b, err := bulkhead.New(bulkhead.Config{Limit: 10, Priorities: &bulkhead.PriorityConfig{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range []bulkhead.Priority{bulkhead.Sheddable, bulkhead.Default, bulkhead.Critical} {
		ctx, admitted := bulkhead.WithPriority(context.Background(), p), 0
		for ; ; admitted++ {
			if _, ok := b.TryAcquire(ctx, 1); !ok {
				break
			}
		}
		fmt.Println(admitted, p)
	}
	// Output:
	// 7 sheddable
	// 2 default
	// 1 critical
}

func ExampleShard() {
	fmt.Println(bulkhead.Shard("acme", 100, 5))
	fmt.Println(bulkhead.Shard("globex", 100, 5))
	// Output:
	// [6 52 5 84 41]
	// [63 55 46 29 49]
}

func ExampleSharded() {
	set, err := bulkhead.NewSharded(bulkhead.Config{Limit: 10}, 32, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for { // a tenant takes all that it can get
		if _, ok := set.For("acme").TryAcquire(ctx, 1); !ok {
			break
		}
	}
	answer, err := bulkhead.Do(ctx, set.For("globex"), func(context.Context) (string, error) {
		return "globex does not notice", nil
	})
	fmt.Println(answer, err)
	// Output: globex does not notice <nil>
}
