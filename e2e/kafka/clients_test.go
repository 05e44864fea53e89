package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestAProcessWithoutActorsCallsAndTells(t *testing.T) {
	c := config(brokers.StartFake(t), "mere")
	if err := kafka.Setup(t.Context(), c, bankAccount.Name()); err != nil {
		t.Fatal(err)
	}
	start(t, c, "host", hostBank())
	ctx := start(t, c, "client").Context(t.Context())
	to := bankAccount.Ref("a")
	depositAll(ctx, t, to, 10)
	if err := deposit.Tell(ctx, to, 5); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what was told is done", func() bool {
		have, err := balance.Call(ctx, to, struct{}{})
		return err == nil && have == 15
	})
	if _, err := send.Call(ctx, to, transfer{To: bankAccount.Ref("b"), Cents: 100}); !errors.Is(err, errNoFunds) {
		t.Errorf("the actor's own error is %v", err)
	}
}

// Clients come, call and go; the host's share is not touched.
func TestShortLivedClientsCauseNoRebalance(t *testing.T) {
	c := config(brokers.StartFake(t), "short")
	if err := kafka.Setup(t.Context(), c, bankAccount.Name()); err != nil {
		t.Fatal(err)
	}
	hosting := c
	var events atomic.Int64
	hosting.OnMember = func(e kafka.MemberEvent) {
		t.Log(e.Kind, e.Instance, e.Err)
		events.Add(1)
	}
	start(t, hosting, "host", hostBank())
	before := events.Load()
	for i := range 10 {
		once(t, c, i)
	}
	time.Sleep(time.Second) // five beats
	if n := events.Load() - before; n > 0 {
		t.Errorf("%d events", n)
	}
}

// once is the life of a client that makes one call; every second one does not
// take leave.
func once(t *testing.T, c kafka.Config, i int) {
	t.Helper()
	log, err := kafka.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	node, err := actors.Open(t.Context(), actors.Config{}, log)
	if err != nil {
		t.Fatal(err)
	}
	if i%2 == 0 {
		defer stop(t, node)
	}
	have, err := deposit.Call(node.Context(t.Context()), bankAccount.Ref("a"), 1)
	if err != nil || have != i+1 {
		t.Errorf("client %d: %d, %v", i, have, err)
	}
}

type task struct{}

var (
	taskType = actors.NewType[task]("account") // the fleet has topics of this type
	perform  = actors.Declare[string, string](taskType, "perform")
)

const crashKey = "the order of a client that dies"

// beCaller makes one call, under a key that others know.
func beCaller(ctx context.Context, log journal.Log, name string) error {
	n, err := actors.Open(ctx, actors.Config{Name: name}, log)
	if err != nil {
		return err
	}
	_, err = perform.Call(n.Context(ctx), taskType.Ref("a"), "it", actors.IdempotencyKey(crashKey))
	return errors.Join(err, n.Stop(context.WithoutCancel(ctx)))
}

// A client dies while its call runs. Another one, with the same key, gets the
// answer of the first run; there is no second one.
func TestAResendAfterTheClientsDeathGetsTheFirstAnswer(t *testing.T) {
	f := newFleet(t, brokers.StartFake(t), "resend")
	begun, ends := make(chan struct{}, 10), make(chan struct{})
	var runs atomic.Int64
	start(t, f.config(), "host", actors.Host(taskType, actors.Settings{},
		actors.Handle(perform, func(ctx context.Context, _ actors.Self[task], what string) (string, error) {
			n := runs.Add(1)
			begun <- struct{}{}
			select {
			case <-ends:
			case <-ctx.Done():
				return "", ctx.Err()
			}
			return fmt.Sprintf("%s was done in run %d", what, n), nil
		})))
	caller := f.start(callerOf)
	select {
	case <-begun:
	case <-time.After(patience):
		t.Fatal("the call has not begun")
	}
	caller.kill()
	<-caller.ended
	close(ends)
	for i := range 3 {
		ctx, cancel := context.WithTimeout(start(t, f.config(), fmt.Sprint("heir ", i)).Context(t.Context()), patience)
		got, err := perform.Call(ctx, taskType.Ref("a"), "it", actors.IdempotencyKey(crashKey))
		cancel()
		if err != nil || got != "it was done in run 1" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if n := runs.Load(); n != 1 {
		t.Errorf("%d runs", n)
	}
}
