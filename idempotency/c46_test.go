package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// bothWays runs a test over a store that wakes those who wait, and over one
// that has to be polled.
func bothWays(t *testing.T, f func(t *testing.T, store idempotency.Store)) {
	t.Run("a store that wakes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, newMemory(t)) })
	})
	t.Run("a store that is polled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, &hooked{Store: newMemory(t)}) })
	})
}

// Acceptance case C46.
func TestC46_SameKeyAndBodyAtOnceRunTheHandlerOnceAndAllGetItsAnswer(t *testing.T) {
	bothWays(t, func(t *testing.T, store idempotency.Store) {
		guard := guardOver(t, store, idempotency.GuardConfig{})
		var runs, replays atomic.Int32
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				got, replayed, err := guard.Run(t.Context(), request("k", "body"), func(ctx context.Context) (idempotency.Answer, error) {
					runs.Add(1)
					return lasting(5*time.Second, "the first's")(ctx)
				})
				if err != nil || string(got.Data) != "the first's" {
					t.Errorf("got %q, %v", got.Data, err)
				}
				if replayed {
					replays.Add(1)
				}
			})
		}
		all.Wait()
		if runs.Load() != 1 || replays.Load() != 999 {
			t.Errorf("ran %d times and replayed %d times, want 1 and 999", runs.Load(), replays.Load())
		}
	})
}

// Acceptance case C46.
func TestC46_WhereWaitingIsOffTheSecondIsRefusedAndSurvivesByComingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(t, idempotency.GuardConfig{MaxWait: idempotency.NoWait})
		go func() {
			_, _, _ = guard.Run(t.Context(), request("k", "body"), lasting(2500*time.Millisecond, "the first's"))
		}()
		synctest.Wait()
		began, refusals := time.Now(), 0
		for {
			got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t))
			refused, ok := errors.AsType[*idempotency.Error](err)
			if !ok {
				if string(got.Data) != "the first's" || !replayed || err != nil {
					t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
				}
				break
			}
			if !errors.Is(err, idempotency.ErrInFlight) || refused.HTTPStatus() != 409 || refused.RetryAfter != time.Second {
				t.Fatalf("got %v, want ErrInFlight, 409, retry after 1s", err)
			}
			refusals++
			time.Sleep(refused.RetryAfter)
		}
		if refusals != 3 || time.Since(began) != 3*time.Second {
			t.Errorf("refused %d times in %v, want 3 times in 3s", refusals, time.Since(began))
		}
	})
}

// Acceptance case C46.
func TestC46_SameKeyWithAnotherBodyIsRefusedEvenWhileInFlight(t *testing.T) {
	bothWays(t, func(t *testing.T, store idempotency.Store) {
		guard := guardOver(t, store, idempotency.GuardConfig{})
		refused := func() {
			t.Helper()
			began := time.Now()
			_, _, err := guard.Run(t.Context(), request("k", "another body"), never(t))
			e, ok := errors.AsType[*idempotency.Error](err)
			if !ok || !errors.Is(err, idempotency.ErrMismatch) || e.HTTPStatus() != 422 || e.Key != "k" {
				t.Errorf("got %v, want ErrMismatch, 422", err)
			}
			if time.Since(began) != 0 {
				t.Errorf("it took %v, want no wait", time.Since(began))
			}
		}
		_, _, err := guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
			refused()
			return idempotency.Answer{Data: []byte("answer")}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		refused()
	})
}

// Acceptance case C46.
func TestC46_AfterSuccessTheAnswerIsReplayedByteForByte(t *testing.T) {
	guard := newGuard(t, idempotency.GuardConfig{})
	first := []byte("\x00\xff\r\n\"\\ not text")
	buffer := append([]byte(nil), first...)
	_, _, err := guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
		return idempotency.Answer{Data: buffer}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	clear(buffer) // the protocol uses its buffer again
	for range 3 {
		got, replayed, err := guard.Run(t.Context(), request("k", "body"), never(t))
		if err != nil || !replayed || !bytes.Equal(got.Data, first) {
			t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
		}
		clear(got.Data)
	}
}

// Acceptance case C46.
func TestC46_AHandlerThatFailsFreesTheKeyAndIsNotReplayed(t *testing.T) {
	failure := errors.New("failed")
	for name, fail := range map[string]func(context.Context) (idempotency.Answer, error){
		"by an error": func(context.Context) (idempotency.Answer, error) { return idempotency.Answer{}, failure },
		"by a status of 500": func(context.Context) (idempotency.Answer, error) {
			return idempotency.Answer{Data: []byte("500"), Keep: idempotency.KeepNothing}, nil
		},
		"by a panic":  func(context.Context) (idempotency.Answer, error) { panic(failure) },
		"by a Goexit": func(context.Context) (idempotency.Answer, error) { runtime.Goexit(); return idempotency.Answer{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				guard := newGuard(t, idempotency.GuardConfig{})
				ended := make(chan string)
				go func() {
					how := "it exited"
					defer func() {
						if v := recover(); v != nil {
							how = fmt.Sprint("it panicked: ", v)
						}
						ended <- how
					}()
					got, replayed, err := guard.Run(t.Context(), request("k", "body"), fail)
					how = fmt.Sprintf("it returned %q, %t, %v", got.Data, replayed, err)
				}()
				want := map[string]string{
					"by an error": `it returned "", false, failed`, "by a status of 500": `it returned "500", false, <nil>`,
					"by a panic": "it panicked: failed", "by a Goexit": "it exited",
				}[name]
				if how := <-ended; how != want {
					t.Errorf("%s, want: %s", how, want)
				}
				began := time.Now()
				got, replayed, err := guard.Run(t.Context(), request("k", "another body"), answering("second"))
				if err != nil || replayed || string(got.Data) != "second" || time.Since(began) != 0 {
					t.Errorf("then got %q, replayed %t, %v after %v", got.Data, replayed, err, time.Since(began))
				}
			})
		})
	}
}

// Acceptance case C46.
func TestC46_WhenTheFirstFailsTheNextInLineDoesTheWork(t *testing.T) {
	bothWays(t, func(t *testing.T, store idempotency.Store) {
		guard := guardOver(t, store, idempotency.GuardConfig{})
		var runs atomic.Int32
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				got, _, err := guard.Run(t.Context(), request("k", "body"), func(context.Context) (idempotency.Answer, error) {
					time.Sleep(100 * time.Millisecond)
					if n := runs.Add(1); n < 4 {
						return idempotency.Answer{Data: []byte("503"), Keep: idempotency.KeepNothing}, nil
					}
					return idempotency.Answer{Data: []byte("200")}, nil
				})
				if err != nil || string(got.Data) != "200" && string(got.Data) != "503" {
					t.Errorf("got %q, %v", got.Data, err)
				}
			})
		}
		all.Wait()
		if runs.Load() != 4 {
			t.Errorf("the work ran %d times, want 3 failures and a success", runs.Load())
		}
	})
}

// Acceptance case C46.
func TestC46_WhenTheOwnerIsKilledTheKeyIsFreeAfterTheLeaseNotAfterADay(t *testing.T) {
	bothWays(t, func(t *testing.T, store idempotency.Store) {
		guard := guardOver(t, store, idempotency.GuardConfig{})
		r := request("k", "body")
		killed := idempotency.Claim{Key: idempotency.Derive("k"), Owner: idempotency.Token{1}}
		if _, err := store.Begin(t.Context(), killed, r.Fingerprint, 30*time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got, replayed, err := guard.Run(t.Context(), r, answering("second"))
		if err != nil || replayed || string(got.Data) != "second" {
			t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
		}
		if waited := time.Since(began); waited != 30*time.Second {
			t.Errorf("the key was free after %v, want 30s", waited)
		}
	})
}

// Acceptance case C46.
func TestC46_AnotherTenantOrRouteIsIndependent(t *testing.T) {
	guard := newGuard(t, idempotency.GuardConfig{})
	scopes := [][]string{nil, {"tenant-1", "/charges"}, {"tenant-2", "/charges"}, {"tenant-1", "/refunds"}, {"tenant-1/charges"}}
	for _, scope := range scopes {
		want := fmt.Sprint("answer for ", scope)
		r := idempotency.Request{Key: "k", Scope: scope, Fingerprint: idempotency.FingerprintOf(scope...)}
		for i := range 2 {
			got, replayed, err := guard.Run(t.Context(), r, answering(want))
			if err != nil || replayed != (i == 1) || string(got.Data) != want {
				t.Errorf("scope %q, time %d: %q, replayed %t, %v", scope, i+1, got.Data, replayed, err)
			}
		}
	}
}
