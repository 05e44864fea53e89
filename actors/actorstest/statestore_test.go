package actorstest

import (
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

func TestTheStoreInMemoryKeepsThePromises(t *testing.T) {
	TestStateStore(t, func(*testing.T) journal.StateStore { return memory.NewStore() })
}
