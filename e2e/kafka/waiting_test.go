package kafka_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/backstay-go/backstay/actors/journal"
)

// A leader that has moved is asked for over another connection than the one of
// records, or who appends would wait for the answer.
func TestAppendDoesNotWaitForWhoLooksForALeader(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := opened(t, config(c.ListenAddrs(), "app"))
	if _, err := put(t, l, "x"); err != nil {
		t.Fatal(err)
	}
	var moved atomic.Bool
	asked := make(chan struct{}, 1)
	c.ControlKey(0, func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if moved.Swap(true) {
			return nil, nil, false
		}
		return refusal(r.(*kmsg.ProduceRequest), 6), nil, true
	})
	c.ControlKey(3, func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if moved.Load() && len(asked) == 0 {
			asked <- struct{}{}
			c.SleepControl(func() { time.Sleep(time.Second) })
		}
		return nil, nil, false
	})
	landed := make(chan error, 2)
	done := func(_ journal.Place, err error) { landed <- err }
	l.Append(journal.Partition{Type: "a", Index: 0}, []byte("y"), done)
	<-asked
	began := time.Now()
	l.Append(journal.Partition{Type: "a", Index: 1}, []byte("z"), done)
	if took := time.Since(began); took > 100*time.Millisecond {
		t.Errorf("Append took %v", took)
	}
	for range cap(landed) {
		if err := <-landed; err != nil {
			t.Error(err)
		}
	}
}
