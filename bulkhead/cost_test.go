package bulkhead_test

import (
	"context"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestACallThatIsAdmittedAllocatesNothing(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			limit := 0.0
			if kind.config.HoldBody {
				limit = 2 // the function that gives the permit back
			}
			b := must(bulkhead.New(kind.config))
			ctx := t.Context()
			n := 0
			testkit.Allocs(t, limit, func() {
				got, err := bulkhead.Do(ctx, b, func(context.Context) (int, error) { n++; return n, nil })
				if got != n || err != nil {
					t.Error(got, err)
				}
			})
			testkit.Allocs(t, 0, func() {
				permit, err := b.Acquire(ctx, 1)
				if err != nil {
					t.Error(err)
				}
				permit.Release(backstay.Outcome{})
			})
		})
	}
}

func TestARefusalAllocatesItsErrorOnly(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 1}))
	acquire(t, b)
	ctx := t.Context()
	testkit.Allocs(t, 1, func() { _, _ = b.Acquire(ctx, 1) })
	testkit.Allocs(t, 0, func() { b.TryAcquire(ctx, 1) })
}
