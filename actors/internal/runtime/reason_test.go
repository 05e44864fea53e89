package runtime_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Who puts a whole answer into an error, or panics with it, must not make a
// record that the log refuses.
func TestTheReasonOfAFailureIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		long := strings.Repeat("é", 1<<20)
		typ := hosting(map[string]run{"m": func(_ context.Context, a *runtime.Attempt) runtime.End {
			if a.Number() == 1 {
				panic(long)
			}
			return runtime.End{Retry: &runtime.Retry{Reason: long}}
		}})
		typ.MaxAttempts = 2
		n := c.open(typ)
		_, err := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "m"}))
		if err == nil || !strings.Contains(err.Error(), "é…") || len(err.Error()) > 10_000 {
			t.Errorf("%.100v", err)
		}
		r, err := c.log.Read(partition{Type: "t"}, 0, func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		entries, err := r.Poll(1 << 30)
		if err != nil || len(entries) == 0 {
			t.Fatal(len(entries), err)
		}
		for _, e := range entries {
			if len(e.Data) > 20_000 {
				t.Errorf("the record at %d has %d bytes", e.Offset, len(e.Data))
			}
		}
	})
}
