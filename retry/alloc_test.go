package retry_test

import (
	"context"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/retry"
)

func TestASuccessAllocatesNothing(t *testing.T) {
	for name, c := range map[string]retry.Config{"with a budget": {}, "without": {Budget: retry.NoBudget}} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, c)
			ctx, n := t.Context(), 0
			testkit.Allocs(t, 0, func() {
				_, _ = retry.Do(ctx, p, func(context.Context) (int, error) { n++; return n, nil })
			})
		})
	}
}

func TestASuccessOfAProtocolAllocatesNothing(t *testing.T) {
	p := policy(t, retry.Config{})
	ctx, n, x, r := t.Context(), 0, &protocol{}, &answer{}
	testkit.Allocs(t, 0, func() {
		_, _ = retry.RunAt(ctx, backstay.Now(), p, nil, x, 1, func(_ context.Context, q int) (*answer, error) {
			n += q
			return r, nil
		})
	})
}

// A later attempt's number is in its context, and the error says what was tried.
func TestAFailureAllocatesItsContextAndItsError(t *testing.T) {
	tests := map[string]struct {
		config retry.Config
		err    error
		limit  float64
	}{
		"two attempts":           {retry.Config{MaxAttempts: 2, Base: retry.NoWait, Budget: retry.NoBudget}, errDown, 2},
		"three attempts":         {retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}, errDown, 3},
		"a failure that is kept": {retry.Config{MaxAttempts: 1}, errDown, 0},
		"a caller's mistake":     {retry.Config{}, backstay.PermanentError(errDown), 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := policy(t, test.config)
			ctx, n := t.Context(), 0
			testkit.Allocs(t, test.limit, func() {
				_, _ = retry.Do(ctx, p, func(context.Context) (int, error) { n++; return 0, test.err })
			})
		})
	}
}
