package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
	"github.com/backstay-go/backstay/retry"
)

// patient asks again where a broker is away or its partitions have moved.
var patient = sync.OnceValue(func() *retry.Policy {
	p, err := retry.New(retry.Config{MaxAttempts: 6, Base: 100 * time.Millisecond, Cap: time.Second, RetryNested: true, Budget: retry.NoBudget})
	if err != nil {
		panic(err) // its numbers are above
	}
	return p
})

// permanent errors do not go away by asking again.
var permanent = []error{
	sarama.ErrTopicAuthorizationFailed, sarama.ErrClusterAuthorizationFailed, sarama.ErrSASLAuthenticationFailed,
	sarama.ErrOffsetOutOfRange, sarama.ErrPolicyViolation, sarama.ErrClosedClient, sarama.ErrInvalidTopic,
	sarama.ErrUnsupportedVersion, ErrTopics, journal.ErrNoType,
}

// again calls f until it succeeds, a few times, and for as long as ctx allows.
func again[T any](ctx context.Context, what string, f func() (T, error)) (T, error) {
	v, err := retry.Do(retry.MarkRepeatable(ctx), patient(), func(ctx context.Context) (T, error) {
		v, err := client.Within(ctx, f)
		if slices.ContainsFunc(permanent, func(p error) bool { return errors.Is(err, p) }) {
			err = backstay.PermanentError(err)
		}
		return v, err
	})
	if err != nil {
		return v, explain(what, err)
	}
	return v, nil
}

// sleep waits, as long as ctx does not end.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("kafka: %w", context.Cause(ctx))
	}
}
