package kafka_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

// Appends and readers ride over a broker that is killed and comes back: what was
// appended meanwhile lands, in order.
func TestALogRidesOverABrokerThatIsKilled(t *testing.T) {
	broker := brokers.StartFakeProcess(t)
	l := opened(t, config([]string{broker.Addr}, "app"))
	if _, err := put(t, l, "before"); err != nil {
		t.Fatal(err)
	}
	broker.Kill()
	acked := appendAll(l, 50)
	broker.Restart()
	expectAll(t, l, acked)
}

// Of three brokers, the leader is killed: nothing is lost, doubled, or out of
// order.
func TestALogRidesOverAnElection(t *testing.T) {
	cluster := brokers.Start(t, brokers.WithBrokers(3), brokers.WithSession(3*time.Second))
	c := kafka.Config{App: "app", Brokers: cluster.Addrs(), Partitions: 4}
	l := opened(t, c)
	if _, err := put(t, l, "before"); err != nil {
		t.Fatal(err)
	}
	topics, err := admin(t, c.Brokers).DescribeTopics([]string{"app.a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range topics[0].Partitions {
		if p.ID == int32(a.Index) { //nolint:gosec // small
			cluster.Kill(int(p.Leader) - 1)
		}
	}
	killed := time.Now()
	expectAll(t, l, appendAll(l, 500))
	t.Logf("acknowledged and read %v after the leader was killed", time.Since(killed))
}

// Acceptance case A52: the brokers are restarted one after the other, as in an
// upgrade. The node goes on, and so do its callers.
func TestA52_ARollingRestartOfTheBrokersRestartsNoProcess(t *testing.T) {
	cluster := brokers.Start(t, brokers.WithBrokers(3), brokers.WithSession(3*time.Second))
	c := kafka.Config{App: "app", Brokers: cluster.Addrs(), Partitions: 4}
	if err := kafka.Setup(t.Context(), c, bankAccount.Name()); err != nil {
		t.Fatal(err)
	}
	_, node := startOn(t, c, "one", hostBank())
	for broker := range 3 {
		payIn(t, node, 10)
		cluster.Stop(broker)
		payIn(t, node, 10) // two are left
		cluster.Restart(broker)
	}
	payIn(t, node, 10)
	for i := range 10 {
		if got, err := balance.Call(node.Context(t.Context()), bankAccount.Ref(fmt.Sprint(i)), struct{}{}); err != nil || got != 7 {
			t.Errorf("account %d has %d, %v", i, got, err)
		}
	}
}

// payIn pays one cent into each of n accounts.
func payIn(t *testing.T, node *actors.Node, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(node.Context(t.Context()), time.Minute)
	defer cancel()
	for i := range n {
		if _, err := deposit.Call(ctx, bankAccount.Ref(fmt.Sprint(i)), 1); err != nil {
			t.Fatalf("account %d: %v", i, err)
		}
	}
}

// appendAll appends the numbers below n.
func appendAll(l *kafka.Log, n int) (acked chan error) {
	acked = make(chan error, n)
	for i := range n {
		l.Append(a, fmt.Append(nil, i), func(_ journal.Place, err error) { acked <- err })
	}
	return acked
}

// expectAll waits for the acknowledgements, and reads the numbers behind the
// first entry.
func expectAll(t *testing.T, l *kafka.Log, acked chan error) {
	t.Helper()
	for range cap(acked) {
		if err := <-acked; err != nil {
			t.Fatal(err)
		}
	}
	for i, e := range take(t, l, 1, cap(acked)) {
		if string(e.Data) != fmt.Sprint(i) || e.At == 0 {
			t.Fatalf("%s at %d where %d was due", e.Data, e.At, i)
		}
	}
}
