package brokers_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestAFakeServesTheProtocol(t *testing.T) {
	addrs := brokers.StartFake(t)
	create(t, addrs, "fake", 1)
	produce(t, addrs, "fake", "one")
	if got := first(t, addrs, "fake"); got != "one" {
		t.Errorf("read %q", got)
	}
}

func TestAFakeProcessIsKilledAndRestartedOnItsData(t *testing.T) {
	fake := brokers.StartFakeProcess(t)
	addrs := []string{fake.Addr}
	create(t, addrs, "kept", 1)
	produce(t, addrs, "kept", "one")
	fake.Kill()
	fake.Kill()
	if !silent(fake.Addr, time.Second) {
		t.Error("it answers after it was killed")
	}
	fake.Restart()
	if got := first(t, addrs, "kept"); got != "one" {
		t.Errorf("read %q", got)
	}
}
