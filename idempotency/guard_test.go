package idempotency_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestWithoutAKeyOrAGuardTheWorkIsDoneAsItComes(t *testing.T) {
	failure := errors.New("failed")
	for name, c := range map[string]struct {
		guard *idempotency.Guard
		key   string
	}{
		"no key": {newGuard(t, idempotency.GuardConfig{}), ""}, "no guard": {nil, "k"}, "neither": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(c.key, "body")
			if c.guard.Guards(r) {
				t.Error("it is guarded")
			}
			runs := 0
			for range 2 {
				got, replayed, err := c.guard.Run(t.Context(), r, func(ctx context.Context) (idempotency.Answer, error) {
					runs++
					if ctx != t.Context() {
						t.Error("the context is another one")
					}
					return idempotency.Answer{Data: []byte("answer")}, failure
				})
				if err != failure || replayed || string(got.Data) != "answer" {
					t.Errorf("got %q, %t, %v", got.Data, replayed, err)
				}
			}
			if runs != 2 {
				t.Errorf("the work ran %d times, want 2", runs)
			}
		})
	}
}

func TestTwoGuardsShareAStore(t *testing.T) {
	store := newMemory(t)
	first, second := guardOver(t, store, idempotency.GuardConfig{}), guardOver(t, store, idempotency.GuardConfig{})
	if _, _, err := first.Run(t.Context(), request("k", "body"), answering("answer")); err != nil {
		t.Fatal(err)
	}
	if got, replayed, err := second.Run(t.Context(), request("k", "body"), never(t)); err != nil || !replayed || string(got.Data) != "answer" {
		t.Errorf("got %q, replayed %t, %v", got.Data, replayed, err)
	}
}

func TestGuardConfigTellsAllItsFaults(t *testing.T) {
	err := idempotency.GuardConfig{
		Lease: -1, Retention: -1, MaxWait: -2, RetryAfter: math.MaxInt64, Grace: math.MinInt64,
		Poll: time.Nanosecond, MaxBody: -1, MaxAnswer: math.MaxInt64,
	}.Validate()
	if err == nil {
		t.Fatal("it is valid")
	}
	for _, path := range []string{"lease", "retention", "max_wait", "retry_after", "grace", "poll", "max_body", "max_answer"} {
		if n := strings.Count("\n"+err.Error(), "\n"+path+": "); n != 1 {
			t.Errorf("%v tells %d times of %s", err, n, path)
		}
	}
}

func TestGuardConfig(t *testing.T) {
	for name, c := range map[string]struct {
		config idempotency.GuardConfig
		fault  string // path of the one fault; empty: valid
	}{
		"the zero value is valid":                   {idempotency.GuardConfig{}, ""},
		"off has a name":                            {idempotency.GuardConfig{MaxWait: idempotency.NoWait, Grace: idempotency.NoGrace}, ""},
		"the shortest lease is 10 ms":               {idempotency.GuardConfig{Lease: 10 * time.Millisecond}, ""},
		"a shorter one could not be renewed":        {idempotency.GuardConfig{Lease: 9 * time.Millisecond}, "lease"},
		"a retention as long as the lease is valid": {idempotency.GuardConfig{Lease: time.Minute, Retention: time.Minute}, ""},
		"a shorter one is not":                      {idempotency.GuardConfig{Lease: time.Minute, Retention: time.Second}, "retention"},
		"nor one shorter than the default lease":    {idempotency.GuardConfig{Retention: 29 * time.Second}, "retention"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.config.Validate()
			if (err == nil) != (c.fault == "") || err != nil && !strings.HasPrefix(err.Error(), c.fault+": ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNewGuardTellsAllFaultsUnderItsName(t *testing.T) {
	_, err := idempotency.NewGuard(idempotency.GuardConfig{Lease: -1}, nil)
	for _, want := range []string{"idempotency.lease: ", "idempotency.store: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell of %s", err, want)
		}
	}
}

func TestWhatIsNotGuardedIsFree(t *testing.T) {
	guard, ctx := newGuard(t, idempotency.GuardConfig{}), context.Background()
	sum := 0
	testkit.Allocs(t, 0, func() {
		_, _, _ = guard.Run(ctx, idempotency.Request{}, func(context.Context) (idempotency.Answer, error) {
			sum++ // captured
			return idempotency.Answer{}, nil
		})
	})
	testkit.Allocs(t, 0, func() {
		_, _, _ = idempotency.Do(ctx, guard, idempotency.Request{}, func(context.Context) (int, error) {
			sum++
			return sum, nil
		})
	})
	testkit.Allocs(t, 0, func() {
		_, _, _ = idempotency.Do(ctx, nil, idempotency.Request{Key: "k"}, func(context.Context) (int, error) {
			sum++
			return sum, nil
		})
	})
}

func TestAReplayIsCheap(t *testing.T) {
	guard, ctx, sum, r := newGuard(t, idempotency.GuardConfig{}), context.Background(), 0, request("k", "body")
	testkit.Allocs(t, 3, func() { // the derived key, the tenure, the copy of the answer
		_, _, _ = guard.Run(ctx, r, func(context.Context) (idempotency.Answer, error) {
			sum++
			return idempotency.Answer{Data: []byte("answer")}, nil
		})
	})
	if sum != 1 {
		t.Errorf("the work ran %d times", sum)
	}
}
