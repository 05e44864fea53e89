package actors_test

import (
	"testing"

	"github.com/backstay-go/backstay/internal/testkit"
)

// The runtime's own call makes 3 allocations. What is gated here is that
// types, codec and context add little to that.
func TestACallMakesFewAllocations(t *testing.T) {
	ctx := meterNode(t)
	ref := Meter.Ref("a")
	testkit.Allocs(t, 6, func() {
		if _, err := Nothing.Call(ctx, ref, struct{}{}); err != nil {
			t.Error(err)
		}
	})
}
