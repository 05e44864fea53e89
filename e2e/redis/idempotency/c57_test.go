package idempotency_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// The first copy arrives at one instance and its client gives up after 100 ms;
// the retry arrives at another instance, while the first still works.
// Acceptance case C57.
func TestC57_TheRetryAtAnotherInstanceGetsTheFirstsAnswer(t *testing.T) {
	server := service.StartRedis(t)
	var runs atomic.Int32
	slow := func(ctx context.Context) (idempotency.Answer, error) {
		runs.Add(1)
		select {
		case <-time.After(time.Second):
			return idempotency.Answer{Data: []byte("the first's")}, nil
		case <-ctx.Done():
			return idempotency.Answer{}, ctx.Err()
		}
	}
	instance := func() *idempotency.Guard {
		return guardOver(t, open(t, server.Addr, redis.Config{}), quick)
	}
	one, other := instance(), instance()
	var first sync.WaitGroup
	defer first.Wait()
	first.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, _, err := one.Run(ctx, request("k", "body"), slow); err != nil {
			t.Errorf("the first: %v", err)
		}
	})
	time.Sleep(200 * time.Millisecond)
	got, replayed, err := other.Run(t.Context(), request("k", "body"), slow)
	if err != nil || !replayed || string(got.Data) != "the first's" || runs.Load() != 1 {
		t.Errorf("the retry got %q, replayed %t, %v; the work ran %d times", got.Data, replayed, err, runs.Load())
	}
}
