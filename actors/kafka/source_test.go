package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// lookedUp is a client that knows one topic, or does not.
type lookedUp struct {
	sarama.Client
	partitions []int32
	fault      error
}

func (c *lookedUp) RefreshMetadata(...string) error { return c.fault }

func (c *lookedUp) Partitions(string) ([]int32, error) { return c.partitions, nil }

func TestATopicThatIsToBeIngestedIsAProblemUntilItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &lookedUp{fault: sarama.ErrUnknownTopicOrPartition}
		l := &Log{config: Config{App: "app"}, client: client}
		if _, err := l.SourceCount(t.Context(), "orders"); !errors.Is(err, journal.ErrNoType) {
			t.Error(err)
		}
		all := l.vitals.problems()
		if len(all) != 1 || all[0].Part != "ingest" || all[0].Topic != "orders" || all[0].Partition != noPartition || !strings.Contains(all[0].Err.Error(), "orders") {
			t.Fatalf("%+v", all)
		}
		client.fault, client.partitions = nil, []int32{0, 1}
		if n, err := l.SourceCount(t.Context(), "orders"); n != 2 || err != nil {
			t.Error(n, err)
		}
		if all := l.vitals.problems(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		client.fault = sarama.ErrOutOfBrokers
		if _, err := l.SourceCount(gone, "orders"); err == nil {
			t.Error("it was counted")
		}
		if all := l.vitals.problems(); len(all) != 0 {
			t.Errorf("of who has gone: %+v", all)
		}
	})
}
