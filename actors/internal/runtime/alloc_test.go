package runtime_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/internal/testkit"
)

// A call that reads and writes makes 4 allocations: the request in the log, the
// attempt, the step in the log; and the value, which this method makes itself.
// Everything else has the room of a call that has ended.
func TestACallMakesFewAllocations(t *testing.T) {
	n := benchNode(t, memory.New(memory.WithPartitions(1)), map[string]run{"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
		set(a, "n", count(ctx, a, "n")+1)
		return runtime.End{}
	}})
	testkit.Allocs(t, 5, func() {
		if _, err := n.Call(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: "inc"}); err != nil {
			t.Error(err)
		}
	})
}

func TestALinkMakesFewAllocations(t *testing.T) {
	const links = 100
	n := benchNode(t, memory.New(memory.WithPartitions(1)), map[string]run{"hop": hop})
	testkit.Allocs(t, 5*links, func() {
		if _, err := n.Call(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: "hop", Args: []byte(strconv.Itoa(links))}); err != nil {
			t.Error(err)
		}
	})
}

// A nested call makes 23: its four records and two attempts, 5 for the timer that the
// caller waits under, and the call, its key and its answer on their way.
func TestANestedCallMakesFewAllocations(t *testing.T) {
	n := benchNode(t, memory.New(memory.WithPartitions(1)), map[string]run{
		"outer": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			v, _ := nested(ctx, a, record.Address{Type: "t", Actor: "b"}, "inner", "")
			return value(v)
		},
		"inner": nop,
	})
	testkit.Allocs(t, 23, func() {
		if _, err := n.Call(context.Background(), runtime.ClientCall{Target: actor("t", "a"), Method: "outer"}); err != nil {
			t.Error(err)
		}
	})
}
