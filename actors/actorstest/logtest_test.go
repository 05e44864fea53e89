package actorstest_test

import (
	"testing"

	"github.com/backstay-go/backstay/actors/actorstest"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

func TestALogInMemoryKeepsItsPromises(t *testing.T) {
	actorstest.TestLog(t, func(*testing.T) journal.Log { return memory.New() })
}

func TestALogInFilesKeepsItsPromises(t *testing.T) {
	actorstest.TestLog(t, func(t *testing.T) journal.Log { return open(t, t.TempDir()) })
}

func TestALogInFilesIsDurable(t *testing.T) {
	actorstest.TestDurableLog(t, func(t *testing.T) func() journal.Log {
		dir := t.TempDir()
		return func() journal.Log { return open(t, dir) }
	})
}

func open(t *testing.T, dir string) journal.Log {
	t.Helper()
	log, err := memory.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return log
}
