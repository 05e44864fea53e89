package retry_test

import (
	"context"
	"slices"
	"testing"

	"github.com/backstay-go/backstay/retry"
)

func TestAttemptTellsItsNumber(t *testing.T) {
	if got := retry.Attempt(t.Context()); got != 1 {
		t.Errorf("outside of a call it is %d", got)
	}
	var got []int
	var outer context.Context
	_, _ = retry.Do(t.Context(), policy(t, retry.Config{Base: retry.NoWait}), func(ctx context.Context) (int, error) {
		got = append(got, retry.Attempt(ctx))
		outer = ctx
		return 0, errDown
	})
	if want := []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	got = nil
	_, _ = retry.Do(outer, policy(t, retry.Config{Base: retry.NoWait}), func(ctx context.Context) (int, error) {
		got = append(got, retry.Attempt(ctx))
		return 0, errDown
	})
	if want := []int{3, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("within attempt 3 of another call got %v", got)
	}
}

func TestTheFirstAttemptGetsTheContextAsItIs(t *testing.T) {
	ctx := t.Context()
	_, _ = retry.Do(ctx, policy(t, retry.Config{}), func(got context.Context) (int, error) {
		if got != ctx {
			t.Error("got another context")
		}
		return 0, nil
	})
}

func TestACallMaySetItsAttempts(t *testing.T) {
	tests := map[string]struct {
		ctx  func(context.Context) context.Context
		want int
	}{
		"more than configured":         {func(ctx context.Context) context.Context { return retry.WithMaxAttempts(ctx, 5) }, 5},
		"fewer than configured":        {func(ctx context.Context) context.Context { return retry.WithMaxAttempts(ctx, 2) }, 2},
		"below one is one":             {func(ctx context.Context) context.Context { return retry.WithMaxAttempts(ctx, -3) }, 1},
		"never":                        {retry.Never, 1},
		"the inner setting counts":     {func(ctx context.Context) context.Context { return retry.WithMaxAttempts(retry.Never(ctx), 2) }, 2},
		"a mark is not a setting":      {retry.MarkRepeatable, 3},
		"suppressed":                   {retry.Suppress, 1},
		"as configured if it has none": {func(ctx context.Context) context.Context { return ctx }, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := policy(t, retry.Config{Base: retry.NoWait, Budget: retry.NoBudget})
			calls := 0
			_, _ = retry.Do(test.ctx(t.Context()), p, always(errDown, &calls))
			if calls != test.want {
				t.Errorf("%d attempts, want %d", calls, test.want)
			}
		})
	}
}

func TestSuppressIsIgnoredWhereConfigured(t *testing.T) {
	p := policy(t, retry.Config{Base: retry.NoWait, RetryNested: true})
	calls := 0
	_, _ = retry.Do(retry.Suppress(t.Context()), p, always(errDown, &calls))
	if calls != 3 {
		t.Errorf("%d attempts, want 3", calls)
	}
}

func TestMarksAreRead(t *testing.T) {
	ctx := t.Context()
	if retry.Repeatable(ctx) || retry.Suppressed(ctx) {
		t.Error("a plain context is marked")
	}
	if ctx := retry.MarkRepeatable(ctx); !retry.Repeatable(ctx) || retry.Suppressed(ctx) {
		t.Error("MarkRepeatable does not mark")
	}
	if ctx := retry.Suppress(ctx); !retry.Suppressed(ctx) || retry.Repeatable(ctx) {
		t.Error("Suppress does not mark")
	}
}
