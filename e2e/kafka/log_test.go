package kafka_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/actorstest"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestMain(m *testing.M) { os.Exit(brokers.Run(m)) }

func TestALogOnKfakeKeepsItsPromises(t *testing.T) {
	actorstest.TestLog(t, func(t *testing.T) journal.Log { return empty(t, brokers.StartFake(t), "app") })
}

func TestALogOnKafkaKeepsItsPromises(t *testing.T) {
	addrs := brokers.Shared(t)
	apps := 0
	actorstest.TestLog(t, func(t *testing.T) journal.Log {
		apps++
		return empty(t, addrs, fmt.Sprintf("conformance-%d", apps))
	})
}

func TestALogOnKfakeIsDurable(t *testing.T) {
	actorstest.TestDurableLog(t, func(t *testing.T) func() journal.Log {
		addrs := brokers.StartFake(t)
		return func() journal.Log { return empty(t, addrs, "app") }
	})
}

// config is that of an application on one broker.
func config(addrs []string, app string) kafka.Config {
	return kafka.Config{App: app, Brokers: addrs, Replication: 1, Partitions: 4}
}

// empty makes the topics of an application, unless they are there, and opens its
// log.
func empty(t *testing.T, addrs []string, app string) journal.Log {
	t.Helper()
	c := config(addrs, app)
	c.Types = map[string]uint32{actorstest.LogType: 4, actorstest.OtherType: 4}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := kafka.Setup(ctx, c); err != nil {
		t.Fatal(err)
	}
	ordinary(t, addrs, actorstest.LogTopic)
	log, err := kafka.Open(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return log
}
