package middleware_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
)

// A key whose calls all went well takes no more than 300 bytes beside its name.
func TestAKeyTakesLittleMemory(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector needs memory of its own")
	}
	const keys, limit = 100_000, 300
	target := middleware.Standard("test")
	target.Keys.Max = 2 * keys
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("host-%010d.backend.test.", i) // 32 bytes, which is a size of the allocator's
	}
	before := heap()
	r := registry(t, target)
	for _, name := range names {
		if _, err := middleware.Do(context.Background(), r.Get(name, backstay.Now()), succeeds); err != nil {
			t.Fatal(err)
		}
	}
	perKey := float64(heap()-before)/keys - float64(len(names[0]))
	t.Logf("%.1f bytes a key", perKey)
	if perKey > limit || r.Len() != keys {
		t.Errorf("%.1f bytes a key, want at most %d; %d keys", perKey, limit, r.Len())
	}
	runtime.KeepAlive(names)
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // the first one may leave what was freed while it ran
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
