package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

const directToken = "what all processes of the bank know"

// directOf is the configuration of an owner: where it listens, and where clients
// connect.
func directOf(text string) *kafka.Direct {
	words := strings.Fields(text)
	if len(words) != 2 {
		return nil
	}
	return &kafka.Direct{Listen: words[0], Advertise: words[1], Token: directToken}
}

// directed has an owner at an address, and a client that has none.
func directed(t *testing.T, advertise, token string) (owner, client *kafka.Log, ctx context.Context) {
	t.Helper()
	c := config(brokers.StartFake(t), "direct")
	if err := kafka.Setup(t.Context(), c, bankAccount.Name()); err != nil {
		t.Fatal(err)
	}
	c.Direct = directOf("127.0.0.1:0 " + advertise)
	owner, _ = startOn(t, c, "owner", hostBank())
	c.Direct = &kafka.Direct{Token: token}
	client, node := startOn(t, c, "client")
	return owner, client, node.Context(t.Context())
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// depositAll makes n of 1 to an account, one after another, and expects each to
// return what is there.
func depositAll(ctx context.Context, t *testing.T, to actors.Ref[account], n int) {
	t.Helper()
	for i := range n {
		have, err := deposit.Call(ctx, to, 1, actors.IdempotencyKey(fmt.Sprint(to.ID, i)))
		if err != nil || have != i+1 {
			t.Errorf("deposit %d to %v: %d, %v", i, to, have, err)
			return
		}
	}
}

func TestAnswersComeDirectlyToAClientThatHostsNothing(t *testing.T) {
	owner, client, ctx := directed(t, "127.0.0.1:0", directToken)
	eventually(t, "the client is connected", func() bool { return client.Health().Direct.Owners == 1 })
	const calls = 100
	depositAll(ctx, t, bankAccount.Ref("a"), calls)
	eventually(t, "the owner has counted them", func() bool { return owner.Health().Direct.Sent >= calls }) // after they were read, maybe
	if h := owner.Health().Direct; h.Clients != 1 || h.Detoured > 0 {
		t.Errorf("%+v", h)
	}
	if h := client.Health(); len(h.Problems) > 0 {
		t.Errorf("%+v", h)
	}
}

func TestAClientWithoutReachGetsItsAnswersOverTheTopic(t *testing.T) {
	owner, client, ctx := directed(t, "127.0.0.1:1", directToken)
	depositAll(ctx, t, bankAccount.Ref("a"), 20)
	if h := owner.Health().Direct; h.Clients != 0 || h.Sent != 0 {
		t.Errorf("%+v", h)
	}
	eventually(t, "the client says so", func() bool {
		return slices.ContainsFunc(client.Health().Problems, func(p kafka.Problem) bool { return p.Part == "direct" && p.Topic == "127.0.0.1:1" })
	})
}

func TestAClientWithAnotherTokenGetsItsAnswersOverTheTopic(t *testing.T) {
	owner, client, ctx := directed(t, "127.0.0.1:0", "what they knew last year")
	depositAll(ctx, t, bankAccount.Ref("a"), 20)
	eventually(t, "both sides say so", func() bool {
		return owner.Health().Direct.WrongToken > 0 &&
			slices.ContainsFunc(client.Health().Problems, func(p kafka.Problem) bool { return errors.Is(p.Err, kafka.ErrToken) })
	})
	if h := owner.Health().Direct; h.Clients != 0 || h.Sent != 0 {
		t.Errorf("%+v", h)
	}
}

// Connections are cut in the middle of frames, and one of two owners is killed:
// every call ends, and all is counted once.
func TestCallsEndWhenConnectionsAreCutAndAnOwnerIsKilled(t *testing.T) {
	f := newFleet(t, brokers.StartFake(t), "cut")
	var hosts []*member
	var proxies []string
	var cuts atomic.Int64
	for i := range 2 {
		target := freeAddress(t)
		proxies = append(proxies, cutting(t, target, &cuts))
		t.Setenv(directAt, target+" "+proxies[i])
		hosts = append(hosts, f.start(hostOf))
	}
	f.owning(hosts...)
	c := f.config()
	c.Direct = &kafka.Direct{Token: directToken}
	client, node := startOn(t, c, "client")
	eventually(t, "the client is connected", func() bool { return client.Health().Direct.Owners > 0 })

	const accounts, each = 12, 100
	ctx, cancel := context.WithTimeout(node.Context(t.Context()), 2*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for i := range accounts {
		all.Go(func() { depositAll(ctx, t, bankAccount.Ref(fmt.Sprint("no. ", i)), each) })
	}
	time.Sleep(time.Second)
	hosts[0].kill()
	all.Wait()
	for i := range accounts {
		if have, err := balance.Call(ctx, bankAccount.Ref(fmt.Sprint("no. ", i)), struct{}{}); err != nil || have != each {
			t.Errorf("account %d has %d of %d, %v", i, have, each, err)
		}
	}
	if n := cuts.Load(); n < 3 {
		t.Errorf("%d connections were cut", n)
	}
	eventually(t, "the dead owner is forgotten", func() bool {
		return !slices.ContainsFunc(client.Health().Problems, func(p kafka.Problem) bool { return p.Topic == proxies[0] })
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// cutting is a proxy that cuts every connection after some bytes to the client,
// wherever that is.
func cutting(t *testing.T, target string, cuts *atomic.Int64) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed in the end
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { cut(client, target, cuts) })
		}
	})
	return l.Addr().String()
}

func cut(client net.Conn, target string, cuts *atomic.Int64) {
	defer client.Close()
	owner, err := net.Dial("tcp", target) //nolint:noctx // on this machine
	if err != nil {
		return
	}
	defer owner.Close()
	go func() {
		_, _ = io.Copy(owner, client)
		_ = owner.Close()
	}()
	const handshake = 53 // bytes of the owner's
	if _, err = io.CopyN(client, owner, handshake+rand.Int64N(20_000)); err == nil {
		cuts.Add(1)
	}
}
