package idempotency_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// TestRefusals: what is told of every kind of refusal, and that nothing is
// done.
func TestRefusals(t *testing.T) {
	inUse := func(s idempotency.Store) idempotency.Store {
		held := idempotency.Claim{Key: idempotency.Derive("k"), Owner: idempotency.Token{1}}
		_, _ = s.Begin(context.Background(), held, idempotency.FingerprintOf("body"), 400*time.Millisecond)
		return s
	}
	full := func(idempotency.Store) idempotency.Store {
		small, _ := idempotency.NewMemory(idempotency.MemoryConfig{MaxRecords: 1})
		other := idempotency.Claim{Key: "other", Owner: idempotency.Token{1}}
		_, _ = small.Begin(context.Background(), other, idempotency.Fingerprint{}, time.Minute)
		return &hooked{Store: small, release: func(context.Context) error { t.Error("released what was not begun"); return nil }}
	}
	failed := func(s idempotency.Store) idempotency.Store { return &hooked{Store: s, begin: failing(1, errStore)} }
	for name, c := range map[string]struct {
		prepare func(idempotency.Store) idempotency.Store
		key     string
		body    string
		err     error
		status  int
		outcome backstay.Outcome
		reason  backstay.Reason
	}{
		"no key": {nil, "", "body", idempotency.ErrKeyMissing, 400,
			backstay.Outcome{Class: backstay.Permanent}, idempotency.ReasonKeyMissing},
		"an invalid key": {nil, "a\nb", "body", idempotency.ErrKeyInvalid, 400,
			backstay.Outcome{Class: backstay.Permanent}, idempotency.ReasonKeyInvalid},
		"another payload": {inUse, "k", "other", idempotency.ErrMismatch, 422,
			backstay.Outcome{Class: backstay.Permanent}, idempotency.ReasonMismatch},
		"in flight": {inUse, "k", "body", idempotency.ErrInFlight, 409,
			backstay.Outcome{Class: backstay.Transient, RetryAfter: 400 * time.Millisecond}, idempotency.ReasonInFlight},
		"a full store": {full, "k", "body", idempotency.ErrStoreFull, 503,
			backstay.Outcome{Class: backstay.Rejected, RetryAfter: time.Second}, idempotency.ReasonStoreFull},
		"a store that fails": {failed, "k", "body", idempotency.ErrStoreFailed, 503,
			backstay.Outcome{Class: backstay.Transient}, idempotency.ReasonStoreFailed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var store idempotency.Store = newMemory(t)
				if c.prepare != nil {
					store = c.prepare(store)
				}
				seen := new(events)
				guard := guardOver(t, store, idempotency.GuardConfig{Required: true, MaxWait: idempotency.NoWait}, scoped(seen))
				_, replayed, err := guard.Run(t.Context(), request(c.key, c.body), never(t))
				e, ok := errors.AsType[*idempotency.Error](err)
				if !ok || replayed || !errors.Is(err, c.err) || e.HTTPStatus() != c.status || e.Name != "payments" || e.Key != c.key {
					t.Fatalf("got %#v", err)
				}
				if got := backstay.Classify(err); got != c.outcome {
					t.Errorf("judged %+v, want %+v", got, c.outcome)
				}
				if got := errors.Is(err, backstay.ErrRejected); got != (c.outcome.Class == backstay.Rejected) {
					t.Errorf("matches ErrRejected: %t", got)
				}
				told := seen.only(t, backstay.CallRejected)
				if told.Reason != c.reason || told.Err != err || told.Wait != c.outcome.RetryAfter || told.Policy != "payments" {
					t.Errorf("told %+v", told)
				}
				if !strings.HasPrefix(err.Error(), "idempotency payments: ") || !strings.HasSuffix(err.Error(), ")") {
					t.Errorf("%q does not tell who and what next", err)
				}
			})
		})
	}
}

func TestAWaitEndsWithMaxWait(t *testing.T) {
	bothWays(t, func(t *testing.T, store idempotency.Store) {
		guard := guardOver(t, store, idempotency.GuardConfig{MaxWait: 7 * time.Second})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = guard.Run(t.Context(), request("k", "body"), lasting(time.Hour, "answer"))
		}()
		synctest.Wait()
		began := time.Now()
		_, _, err := guard.Run(t.Context(), request("k", "body"), never(t))
		e, ok := errors.AsType[*idempotency.Error](err)
		if !ok || !errors.Is(err, idempotency.ErrInFlight) || e.RetryAfter != time.Second || time.Since(began) != 7*time.Second {
			t.Errorf("got %v after %v, want ErrInFlight after 7s", err, time.Since(began))
		}
		<-done
	})
}

func TestAWaitEndsWithTheDeadlineOfItsCaller(t *testing.T) {
	bothWays(t, func(t *testing.T, store idempotency.Store) {
		guard := guardOver(t, store, idempotency.GuardConfig{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = guard.Run(t.Context(), request("k", "body"), lasting(time.Hour, "answer"))
		}()
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, _, err := guard.Run(ctx, request("k", "body"), never(t))
		if !errors.Is(err, idempotency.ErrInFlight) || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("got %v after %v, want ErrInFlight and DeadlineExceeded after 3s", err, time.Since(began))
		}
		<-done
	})
}

func TestACallerWhoGivesUpIsCanceledAndNotRefused(t *testing.T) {
	hungUp := errors.New("hung up")
	bothWays(t, func(t *testing.T, store idempotency.Store) {
		seen := new(events)
		guard := guardOver(t, store, idempotency.GuardConfig{}, scoped(seen))
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = guard.Run(t.Context(), request("k", "body"), lasting(time.Hour, "answer"))
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(hungUp) })
		for _, when := range []string{"while waiting", "before"} {
			_, _, err := guard.Run(ctx, request("k", "body"), never(t))
			if !errors.Is(err, context.Canceled) || !errors.Is(err, hungUp) || backstay.Classify(err).Class != backstay.Canceled {
				t.Errorf("%s: %v, want context.Canceled and its cause", when, err)
			}
		}
		<-done
		if told := seen.Take(); len(told) > 0 {
			t.Errorf("told %v", told)
		}
	})
}

// TestAnAnswerOfTheStoreThatIsLostBlocksNobody: the store has granted the key,
// but its answer does not arrive.
func TestAnAnswerOfTheStoreThatIsLostBlocksNobody(t *testing.T) {
	for name, c := range map[string]struct {
		hangsUp bool
		want    error
	}{
		"because the store fails":        {false, idempotency.ErrStoreFailed},
		"because its caller has hung up": {true, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := newMemory(t)
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				store := &deaf{Store: memory, meanwhile: func() {
					if c.hangsUp {
						hangUp()
					}
				}}
				_, _, err := guardOver(t, store, idempotency.GuardConfig{}).Run(ctx, request("k", "body"), never(t))
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				began := time.Now()
				_, replayed, err := guardOver(t, memory, idempotency.GuardConfig{}).Run(t.Context(), request("k", "body"), answering("second"))
				if err != nil || replayed || time.Since(began) != 0 {
					t.Errorf("the next: replayed %t, %v after %v", replayed, err, time.Since(began))
				}
			})
		})
	}
}

// deaf begins, and loses the answer.
type deaf struct {
	idempotency.Store
	meanwhile func()
}

func (d *deaf) Begin(ctx context.Context, c idempotency.Claim, f idempotency.Fingerprint, lease time.Duration) (idempotency.Result, error) {
	_, _ = d.Store.Begin(ctx, c, f, lease)
	d.meanwhile()
	return idempotency.Result{}, errStore
}

// confused answers what no store may answer.
type confused struct{ idempotency.Store }

func (confused) Begin(context.Context, idempotency.Claim, idempotency.Fingerprint, time.Duration) (idempotency.Result, error) {
	return idempotency.Result{}, nil
}

func TestAStoreThatAnswersNonsenseHasFailed(t *testing.T) {
	guard := guardOver(t, confused{newMemory(t)}, idempotency.GuardConfig{})
	if _, _, err := guard.Run(t.Context(), request("k", "body"), never(t)); !errors.Is(err, idempotency.ErrStoreFailed) {
		t.Errorf("got %v, want ErrStoreFailed", err)
	}
}

// restless is a Waiter whose waiting fails.
type restless struct{ idempotency.Store }

func (restless) Wait(context.Context, string) error { return errStore }

func TestAWaiterThatFailsIsAStoreThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := guardOver(t, restless{newMemory(t)}, idempotency.GuardConfig{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = guard.Run(t.Context(), request("k", "body"), lasting(time.Second, "answer"))
		}()
		synctest.Wait()
		if _, _, err := guard.Run(t.Context(), request("k", "body"), never(t)); !errors.Is(err, idempotency.ErrStoreFailed) || !errors.Is(err, errStore) {
			t.Errorf("got %v, want ErrStoreFailed with its cause", err)
		}
		<-done
	})
}

func TestAReplayIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(events)
		guard := newGuard(t, idempotency.GuardConfig{}, scoped(seen))
		go func() { _, _, _ = guard.Run(t.Context(), request("k", "body"), lasting(3*time.Second, "answer")) }()
		synctest.Wait()
		time.Sleep(time.Second)
		if _, _, err := guard.Run(t.Context(), request("k", "body"), never(t)); err != nil {
			t.Fatal(err)
		}
		if told := seen.only(t, idempotency.KeyReplayed); told.Elapsed != 2*time.Second || told.Policy != "payments" {
			t.Errorf("told %+v, want a wait of 2s", told)
		}
	})
}

func TestErrorsTellWhoWhyAndWhatNext(t *testing.T) {
	for want, err := range map[string]*idempotency.Error{
		`idempotency payments: key "k": the key was used for another request (use a new key for a new request)`: {
			Err: idempotency.ErrMismatch, Name: "payments", Key: "k"},
		`idempotency: a key is required and none was sent (send one, the same on every repetition)`: {
			Err: idempotency.ErrKeyMissing},
		`idempotency: key "a\nb": the key is invalid: it contains a line break (send 1 to 255 characters of printable ASCII, once)`: {
			Err: idempotency.ErrKeyInvalid, Key: "a\nb", Detail: "it contains a line break"},
		`idempotency: the store failed: connection refused (see to the store; the request may be sent again)`: {
			Err: idempotency.ErrStoreFailed, Cause: errStore},
		`idempotency: another reason`: {Err: errors.New("another reason")},
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
	long := &idempotency.Error{Err: idempotency.ErrKeyInvalid, Key: strings.Repeat("\n", 1<<20)}
	if n := len(long.Error()); n > 300 {
		t.Errorf("a key of 1 MiB makes a message of %d bytes", n)
	}
	if status := (&idempotency.Error{Err: errStore}).HTTPStatus(); status != 500 {
		t.Errorf("a reason of another package has the status %d, want 500", status)
	}
}

func TestTheReasonsThatAStoreReturnsAreJudgedWithoutAGuard(t *testing.T) {
	for err, class := range map[error]backstay.Class{
		idempotency.ErrStoreFull: backstay.Rejected, idempotency.ErrLeaseLost: backstay.Transient,
	} {
		if got := backstay.Classify(err); got.Class != class || !strings.HasPrefix(err.Error(), "idempotency: ") {
			t.Errorf("%v is %v, want %v", err, got.Class, class)
		}
	}
	if !errors.Is(idempotency.ErrStoreFull, backstay.ErrRejected) || errors.Is(idempotency.ErrLeaseLost, backstay.ErrRejected) {
		t.Error("of the two, only the full store is a refusal before anything was done")
	}
}

func TestANilGuardReadsBodiesWithinTheDefaultBound(t *testing.T) {
	var g *idempotency.Guard
	if data, _, err := g.ReadBody(strings.NewReader("abc"), "POST"); string(data) != "abc" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, _, err := g.ReadBody(strings.NewReader(strings.Repeat("x", idempotency.DefaultMaxBody+1))); !errors.Is(err, idempotency.ErrBodyTooLarge) {
		t.Errorf("error %v", err)
	}
}
