package idempotency_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// Ten clients, each with connections of its own, ask 100 times each.
// Acceptance case C46.
func TestC46_OfAThousandAtOnceOneBegins(t *testing.T) {
	server := service.StartRedis(t)
	var began, inFlight atomic.Int32
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 10 {
		store := open(t, server.Addr, redis.Config{Timeout: time.Minute}) // the machine may be busy
		for range 100 {
			all.Go(func() {
				<-start
				got, err := store.Begin(t.Context(), owner("k"), idempotency.Fingerprint{}, time.Minute)
				switch {
				case err != nil:
					t.Error(err)
				case got.State == idempotency.Started:
					began.Add(1)
				case got.State == idempotency.InFlight:
					inFlight.Add(1)
				}
			})
		}
	}
	close(start)
	all.Wait()
	if began.Load() != 1 || inFlight.Load() != 999 {
		t.Errorf("%d began and %d were told that it is in flight, want 1 and 999", began.Load(), inFlight.Load())
	}
}

// Acceptance case C46.
func TestC46_TwoProcessesDoTheWorkOnceAndBothGetTheAnswer(t *testing.T) {
	server := service.StartRedis(t)
	first := startWorker(t, server, "k", 500*time.Millisecond)
	first.says("began")
	second := startWorker(t, server, "k", 0)
	guard := guardOver(t, open(t, server.Addr, redis.Config{}), quick)
	if _, _, err := guard.Run(t.Context(), request("k", "another body"), never(t)); !errors.Is(err, idempotency.ErrMismatch) {
		t.Errorf("another body while in flight: %v, want ErrMismatch", err)
	}
	first.says(`ended "the worker's" false <nil>`)
	second.says(`ended "the worker's" true <nil>`)
	got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t))
	if err != nil || !replayed || string(got.Data) != "the worker's" {
		t.Errorf("later: %q, replayed %t, %v", got.Data, replayed, err)
	}
}

// Acceptance case C46.
func TestC46_WhenAProcessIsKilledItsKeyIsFreeAfterTheLease(t *testing.T) {
	server := service.StartRedis(t)
	killed := startWorker(t, server, "k", time.Minute)
	killed.says("began")
	time.Sleep(3 * quick.Lease / 2) // its lease is renewed
	guard := guardOver(t, open(t, server.Addr, redis.Config{}), quick)
	atOnce := guardOver(t, open(t, server.Addr, redis.Config{}), idempotency.GuardConfig{MaxWait: idempotency.NoWait})
	if _, _, err := atOnce.Run(t.Context(), request("k", "body"), never(t)); !errors.Is(err, idempotency.ErrInFlight) {
		t.Errorf("while it works: %v, want ErrInFlight", err)
	}
	killed.kill()
	began := time.Now()
	got, replayed, err := guard.Run(t.Context(), request("k", "body"), answering("the second's"))
	if err != nil || replayed || string(got.Data) != "the second's" {
		t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
	}
	if took := time.Since(began); took > quick.Lease+time.Second {
		t.Errorf("the key was free after %v, want the lease of %v", took, quick.Lease)
	}
}

// Acceptance case C46.
func TestC46_WorkThatFailsFreesItsKeyForAnotherProcess(t *testing.T) {
	server := service.StartRedis(t)
	failed := errors.New("failed")
	_, _, err := guardOver(t, open(t, server.Addr, redis.Config{}), quick).Run(t.Context(), request("k", "body"),
		func(context.Context) (idempotency.Answer, error) { return idempotency.Answer{}, failed })
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	second := startWorker(t, server, "k", 0)
	second.says("began")
	second.says(`ended "the worker's" false <nil>`)
}
