package idempotency_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// outages are the ways in which Redis goes away and comes back.
var outages = map[string]struct {
	begin, end func(*service.Redis)
	forgets    bool
}{
	"paused": {(*service.Redis).Pause, (*service.Redis).Continue, false},
	"killed": {(*service.Redis).Kill, (*service.Redis).Restart, true},
}

// hasty gives up on Redis quickly.
func hasty(w redis.WhenDown) redis.Config {
	return redis.Config{Timeout: 300 * time.Millisecond, WhenDown: w}
}

func TestWhileRedisIsGoneNewWorkIsRefused(t *testing.T) {
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			server := service.StartRedis(t)
			w := watch(t, server, hasty(redis.Refuse), idempotency.GuardConfig{})
			outage.begin(server)
			within(t, 2*time.Second, func() {
				_, _, err := w.guard.Run(t.Context(), request("k", "body"), never(t))
				refused, _ := errors.AsType[*idempotency.Error](err)
				if !errors.Is(err, redis.ErrFailed) || refused == nil || refused.HTTPStatus() != 503 {
					t.Errorf("got %v, want ErrStoreFailed, 503, around redis.ErrFailed", err)
				}
			})
			if told := w.kinds(); !told[idempotency.StoreFailed] || !told[backstay.CallRejected] || told[idempotency.LetThrough] {
				t.Errorf("told %v", told)
			}
			outage.end(server)
			got, _, err := w.guard.Run(t.Context(), request("k2", "body"), answering("answer"))
			if err != nil || string(got.Data) != "answer" {
				t.Errorf("when it is back: %q, %v", got.Data, err)
			}
		})
	}
}

func TestWhileRedisIsGoneNewWorkIsLetThrough(t *testing.T) {
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			server := service.StartRedis(t)
			w := watch(t, server, hasty(redis.LetThrough), idempotency.GuardConfig{})
			outage.begin(server)
			within(t, 3*time.Second, func() {
				got, replayed, err := w.guard.Run(t.Context(), request("k", "body"), answering("answer"))
				if err != nil || replayed || string(got.Data) != "answer" {
					t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
				}
			})
			if told := w.kinds(); !told[idempotency.StoreFailed] || !told[idempotency.LetThrough] || !told[idempotency.AnswerNotKept] {
				t.Errorf("told %v", told)
			}
			outage.end(server)
			for i, want := range []bool{false, true} {
				_, replayed, err := w.guard.Run(t.Context(), request("k2", "body"), answering("answer"))
				if err != nil || replayed != want {
					t.Errorf("when it is back, time %d: replayed %t, %v", i+1, replayed, err)
				}
			}
			if told := w.kinds(); told[idempotency.LetThrough] {
				t.Errorf("when it is back, told %v", told)
			}
		})
	}
}

// The work begins under the protection of Redis, which goes away while it runs
// and is back before its end.
func TestWorkSurvivesAnOutageInItsMiddle(t *testing.T) {
	for name, outage := range outages {
		for _, policy := range []redis.WhenDown{redis.Refuse, redis.LetThrough} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				server := service.StartRedis(t)
				w := watch(t, server, hasty(policy), idempotency.GuardConfig{Lease: 2 * time.Second})
				got, _, err := w.guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
					outage.begin(server)
					time.Sleep(500 * time.Millisecond)
					outage.end(server)
					return idempotency.Answer{Data: []byte("answer")}, nil
				})
				if err != nil || string(got.Data) != "answer" {
					t.Fatalf("got %q, %v", got.Data, err)
				}
				got, replayed, err := w.guard.Run(t.Context(), request("k", "body"), never(t))
				if err != nil || !replayed || string(got.Data) != "answer" {
					t.Errorf("later: %q, replayed %t, %v", got.Data, replayed, err)
				}
			})
		}
	}
}

// The work ends while Redis is gone: its caller gets the answer, within the
// tries of the guard, and the observer is told that it was not kept.
func TestWorkThatEndsInAnOutageIsAnsweredAndTold(t *testing.T) {
	for name, outage := range outages {
		for _, policy := range []redis.WhenDown{redis.Refuse, redis.LetThrough} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				server := service.StartRedis(t)
				w := watch(t, server, hasty(policy), idempotency.GuardConfig{Lease: 6 * time.Second})
				within(t, 4*time.Second, func() {
					got, _, err := w.guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
						outage.begin(server)
						return idempotency.Answer{Data: []byte("answer")}, nil
					})
					if err != nil || string(got.Data) != "answer" {
						t.Errorf("got %q, %v", got.Data, err)
					}
				})
				if told := w.kinds(); !told[idempotency.StoreFailed] || !told[idempotency.AnswerNotKept] {
					t.Errorf("told %v", told)
				}
			})
		}
	}
}

// The wait of one who repeats ends when Redis goes away, and not by itself
// doing the work a second time where that is refused.
func TestWhoWaitsIsRefusedWhenRedisGoesAway(t *testing.T) {
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			server := service.StartRedis(t)
			w := watch(t, server, hasty(redis.Refuse), idempotency.GuardConfig{})
			if _, err := w.store.Begin(t.Context(), owner(idempotency.Derive("k")), request("k", "body").Fingerprint, time.Minute); err != nil {
				t.Fatal(err)
			}
			var away sync.WaitGroup
			defer away.Wait()
			away.Go(func() {
				time.Sleep(100 * time.Millisecond)
				outage.begin(server)
			})
			within(t, 3*time.Second, func() {
				if _, _, err := w.guard.Run(t.Context(), request("k", "body"), never(t)); !errors.Is(err, idempotency.ErrStoreFailed) {
					t.Errorf("got %v, want ErrStoreFailed", err)
				}
			})
		})
	}
}

func TestARedisThatHangsCostsTheWholeTimeoutOnlyNowAndThen(t *testing.T) {
	server := service.StartRedis(t)
	w := watch(t, server, redis.Config{Timeout: time.Second}, idempotency.GuardConfig{})
	server.Pause()
	begin := func() {
		if _, err := w.store.Begin(t.Context(), owner("k"), idempotency.Fingerprint{}, time.Minute); !errors.Is(err, redis.ErrFailed) {
			t.Errorf("got %v, want ErrFailed", err)
		}
	}
	began := time.Now()
	begin()
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("the first took %v, want the timeout of 1s", took)
	}
	within(t, 900*time.Millisecond, func() { // a tenth of the timeout each
		for range 5 {
			begin()
		}
	})
	server.Continue()
	within(t, 5*time.Second, func() { // also if its connections have to be made anew
		for {
			if _, err := w.store.Begin(t.Context(), owner("k2"), idempotency.Fingerprint{}, time.Minute); err == nil {
				return
			}
		}
	})
}

// A cancelled caller waits no longer than the timeout; its deadline is heeded.
func TestNoOperationOutlivesItsDeadlineOrTheTimeout(t *testing.T) {
	server := service.StartRedis(t)
	store := open(t, server.Addr, redis.Config{Timeout: 500 * time.Millisecond})
	server.Pause()
	defer server.Continue()
	claim := owner("k")
	for name, operation := range map[string]func(context.Context) error{
		"begin": func(ctx context.Context) error {
			_, err := store.Begin(ctx, claim, idempotency.Fingerprint{}, time.Minute)
			return err
		},
		"renew":    func(ctx context.Context) error { return store.Renew(ctx, claim, time.Minute) },
		"complete": func(ctx context.Context) error { return store.Complete(ctx, claim, idempotency.Record{}, time.Minute) },
		"release":  func(ctx context.Context) error { return store.Release(ctx, claim) },
	} {
		t.Run(name, func(t *testing.T) {
			within(t, 400*time.Millisecond, func() {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if err := operation(ctx); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, redis.ErrFailed) {
					t.Errorf("at its deadline: %v", err)
				}
			})
			within(t, time.Second, func() {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(20*time.Millisecond, cancel)
				if err := operation(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("cancelled: %v", err)
				}
			})
		})
	}
}
