package httpmw_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails where a goroutine outlives the tests. Those of synctest
// bubbles are checked by the bubbles themselves, connections by [backend].
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leaked(); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "goroutines outlive the tests:\n\n%s\n", strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines that use this module or net/http,
// once they had time to end.
func leaked() (left []string) {
	for range 500 {
		all := make([]byte, 1<<20)
		all = all[:runtime.Stack(all, true)]
		left = nil
		for i, stack := range strings.Split(string(all), "\n\n") {
			if i > 0 && (strings.Contains(stack, "backstay") || strings.Contains(stack, "net/http")) {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return left
}
