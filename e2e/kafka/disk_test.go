package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
)

// The disks of the brokers are full, for longer than an append is repeated. Who
// calls waits for as long as it wants, Health says why, and when there is room
// again all goes on, without a restart.
func TestWhileTheBrokersDisksAreFullCallersWaitAndNothingIsLostOrDoubled(t *testing.T) {
	t.Parallel() // it waits for the last try
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	c := config(cluster.ListenAddrs(), "full")
	c.ExactlyOnce = []string{criersTopic}
	if err := kafka.Setup(t.Context(), c, bankAccount.Name(), crierType.Name()); err != nil {
		t.Fatal(err)
	}
	ordinary(t, c.Brokers, criersTopic)
	log, node := startOn(t, c, "bank", hostBank(), hostCriers())
	ctx, cancel := context.WithTimeout(node.Context(t.Context()), 3*patience)
	defer cancel()
	to := bankAccount.Ref("a")
	const before, during = 10, 5
	depositAll(ctx, t, to, before)
	crying := func(n int) {
		if _, err := cry.Call(ctx, crierType.Ref("c"), n, actors.IdempotencyKey(fmt.Sprint("cry ", n))); err != nil {
			t.Errorf("cry %d: %v", n, err)
		}
	}
	for n := range before {
		crying(n)
	}

	full := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.KafkaStorageError, Count: -1})
	again := func(ctx context.Context) error { // the same order, whoever gives up on it meanwhile
		_, err := deposit.Call(ctx, to, 1, actors.IdempotencyKey("again"))
		return err
	}
	impatient, giveUp := context.WithTimeout(ctx, 2*time.Second)
	defer giveUp()
	if err := again(impatient); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waits for 2 s gets %v", err)
	}
	var patient sync.WaitGroup
	for i := range during {
		patient.Go(func() {
			if _, err := deposit.Call(ctx, to, 1, actors.IdempotencyKey(fmt.Sprint("during ", i))); err != nil {
				t.Errorf("who waits for long: %v", err)
			}
		})
		patient.Go(func() { crying(before + i) })
	}
	eventually(t, "Health says what is wrong with the log", func() bool {
		return slices.ContainsFunc(log.Health().Problems, func(p kafka.Problem) bool {
			return p.Part == "append" && p.Topic == "full.account" && strings.Contains(p.Err.Error(), "disk has failed or is full")
		})
	})
	full.Remove()
	patient.Wait()
	if err := again(ctx); err != nil {
		t.Error(err)
	}
	if have, err := balance.Call(ctx, to, struct{}{}); err != nil || have != before+1+during {
		t.Errorf("there are %d, %v; want %d", have, err, before+1+during)
	}
	const cried = (before + during) * cries
	judgeCries(t, cried, readCommitted(t, c.Brokers, criersTopic, cried))
	eventually(t, "Health says that it is over", func() bool { return len(log.Health().Problems) == 0 })
}
