package kafka_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

// Who starts after partitions were added to the topic of answers gets them also
// from owners that were there before.
func TestAnswersReachPartitionsThatWereAddedLater(t *testing.T) {
	addrs := brokers.StartFake(t)
	c := config(addrs, "wide")
	c.ReplyPartitions = 1
	owner := opened(t, c)
	if err := admin(t, addrs).CreatePartitions("wide.replies", 16, nil, false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	came := make(chan string, 1)
	address := listenBeyond(ctx, t, c, 1, came)
	for {
		owner.Answer(address, []byte("answer"))
		select {
		case got := <-came:
			if got != "answer" {
				t.Errorf("%q came", got)
			}
			return
		case <-time.After(time.Second): // who waits asks again
		case <-ctx.Done():
			t.Fatalf("nothing came to %s; %+v", address, owner.Health())
		}
	}
}

// listenBeyond opens logs until one listens at a partition that is not among the
// first n.
func listenBeyond(ctx context.Context, t *testing.T, c kafka.Config, n int, came chan<- string) string {
	t.Helper()
	for {
		l, err := kafka.Open(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		address, _, err := l.Listen(ctx, func(data []byte) {
			select {
			case came <- string(data):
			default: // it came twice
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		partition, _, _ := strings.Cut(address, "/")
		if at, err := strconv.Atoi(partition); err == nil && at >= n {
			return address
		}
	}
}
