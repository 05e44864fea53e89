package brokers_test

import (
	"slices"
	"testing"

	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestASharedBrokerIsTheSameForAllTests(t *testing.T) {
	addrs := brokers.Shared(t)
	create(t, addrs, "shared", 1)
	if again := brokers.Shared(t); !slices.Equal(again, addrs) {
		t.Errorf("first %v, then %v", addrs, again)
	}
	if got := produce(t, addrs, "shared", "one"); got != 0 {
		t.Errorf("the first message is at offset %d", got)
	}
}
