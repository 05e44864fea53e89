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

// A link makes those of a call without its request, and the tail call.
func TestALinkMakesFewAllocations(t *testing.T) {
	const links = 100
	ctx := meterNode(t)
	testkit.Allocs(t, 5.2*links, func() {
		if _, err := Down.Call(ctx, Meter.Ref("a"), links); err != nil {
			t.Error(err)
		}
	})
}
