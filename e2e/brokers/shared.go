package brokers

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is what all tests of this binary use.
var shared struct {
	dir     string // empty outside of Run
	once    sync.Once
	cluster *Cluster
	err     error
}

// Run runs the tests of a binary, ends what they shared, and returns the code
// to exit with. It is for TestMain.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "brokers")
	if err != nil {
		fmt.Fprintln(os.Stderr, "brokers:", err)
		return 1
	}
	shared.dir = dir
	defer func() { _ = os.RemoveAll(dir) }() // nobody is left to be told
	defer endShared()
	return m.Run()
}

// endShared kills the broker, if one was started.
func endShared() {
	if shared.cluster == nil {
		return
	}
	if err := shared.cluster.end(); err != nil {
		fmt.Fprintln(os.Stderr, "brokers:", err)
	}
}

// Shared returns the address of one stock broker that all tests of this binary
// share. The first that asks starts it. Tests use topics and groups of names of
// their own; none can kill it.
func Shared(tb testing.TB) (addrs []string) {
	tb.Helper()
	shared.once.Do(func() {
		if shared.dir == "" {
			shared.err = errors.New("brokers.Shared needs a TestMain that calls brokers.Run")
			return
		}
		shared.cluster, shared.err = start(shared.dir, newPlan(nil))
	})
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.cluster.Addrs()
}
