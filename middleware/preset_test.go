package middleware_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
)

var presets = map[string]func(string) middleware.Target{
	"Standard": middleware.Standard,
	"Internal": middleware.Internal,
	"Reads":    middleware.Reads,
}

func TestPresetsAreValidAndTheirOwn(t *testing.T) {
	for name, preset := range presets {
		target := preset("payments")
		if err := target.Validate(); err != nil || target.Name != "payments" {
			t.Errorf("%s: %q, %v", name, target.Name, err)
		}
		target.Retry.MaxAttempts = 99
		if preset("other").Retry.MaxAttempts == 99 {
			t.Errorf("%s: two targets share a section", name)
		}
		if (target.Hedge != nil) != (name == "Reads") || (target.Propagate.Hosts != nil) != (name != "Standard") {
			t.Errorf("%s: hedge %v, propagate %v", name, target.Hedge, target.Propagate)
		}
	}
}

// No preset makes a request repeatable that is not so by itself.
// Acceptance case C60.
func TestC60_NoPresetRepeatsAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, preset := range presets {
			target := preset("payments")
			if target.Idempotency != nil {
				t.Errorf("%s makes keys", name)
			}
			p := made(t, target)
			post := &testkit.Fake{Refuse: errDown}
			for _, unsent := range []bool{false, true} {
				sent := 0
				x := writes{post}
				_, _ = middleware.Run(t.Context(), p, nil, x, "POST", func(ctx context.Context, _ string) (*testkit.Reply, error) {
					sent++
					time.Sleep(1500 * ms) // a copy would be sent meanwhile
					return nil, backstay.Mark(errDown, backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Unsent: unsent}})
				})
				if sent != 1 {
					t.Errorf("%s: a write that must not be repeated was sent %d times", name, sent)
				}
			}
		}
	})
}

// writes is a protocol whose requests must be neither repeated nor hedged.
type writes struct{ *testkit.Fake }

func (w writes) Hedge(string) error { return w.Refuse }

func TestPresetsHaveTheDocumentedLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, middleware.Standard("payments"))
		began := time.Now()
		attempts := 0
		_, err := middleware.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			attempts++
			if end, ok := ctx.Deadline(); !ok || time.Until(end) != 2*time.Second {
				t.Errorf("attempt %d is bounded by %v", attempts, time.Until(end))
			}
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if took := time.Since(began); attempts != 3 || took < 6*time.Second || took > 6300*ms {
			t.Errorf("%d attempts in %v: %v", attempts, took, err)
		}
		if got := p.Bulkhead().Limit(); got != 64 {
			t.Errorf("a bulkhead of %d", got)
		}
		s := p.Status()
		if s.Budget.Available < 1 || s.Budget.Available > 3.1 || s.Breaker.State != "closed" || s.Breaker.Failures != 3 {
			t.Errorf("%+v, %+v", s.Budget, s.Breaker)
		}
	})
}
