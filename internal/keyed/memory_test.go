package keyed_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/backstay-go/backstay/internal/keyed"
	"github.com/backstay-go/backstay/internal/testkit"
)

func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func TestAKeyCostsAtMostSixtyBytesBesideItsTextAndItsValue(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector changes sizes")
	}
	const n, text, value = 10_000, 16, 8
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%0*d", text, i)
	}
	before := heap()
	m := keyed.New(keyed.Config{}, func(string) *int { return nil }, keyed.Hooks[*int]{})
	for _, k := range keys {
		m.Get(k, second)
	}
	cost := float64(heap()-before)/n - text - value
	runtime.KeepAlive(m)
	runtime.KeepAlive(keys)
	t.Logf("%.1f bytes a key, the string header included", cost)
	if cost > 60 {
		t.Errorf("%.1f bytes a key, want at most 60", cost)
	}
}
