package testkit

import "testing"

// Allocs fails t if f allocates more than limit times a run on average. It
// skips under the race detector.
func Allocs(t *testing.T, limit float64, f func()) {
	t.Helper()
	if Race {
		t.Skip("the race detector allocates on its own")
	}
	if got := testing.AllocsPerRun(200, f); got > limit {
		t.Errorf("%v allocations a run, want at most %v", got, limit)
	}
}
