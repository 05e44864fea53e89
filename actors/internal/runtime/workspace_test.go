package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// A goroutine that a method left behind holds its attempt while the next one
// runs in the same workspace.
func TestWhoWasLeftBehindDoesNotWriteForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var late error
		var left *runtime.Attempt
		n := c.open(hosting(map[string]run{
			"leave": func(_ context.Context, a *runtime.Attempt) runtime.End {
				left = a
				return value("")
			},
			"next": func(_ context.Context, a *runtime.Attempt) runtime.End {
				late = left.Set("n", []byte("7"))
				set(a, "other", 1)
				return value("")
			},
			"get": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				if count(ctx, a, "other") != 1 {
					return failed("lost")
				}
				v, _, _ := a.Cell(ctx, "n")
				return value(string(v))
			},
		}))
		c.call(n, "a", "leave", "")
		c.call(n, "a", "next", "")
		if !errors.Is(late, runtime.ErrOver) {
			t.Errorf("it may write: %v", late)
		}
		if v := c.call(n, "a", "get", ""); v != "" {
			t.Errorf("it wrote %q", v)
		}
	})
}
