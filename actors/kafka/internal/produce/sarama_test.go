package produce

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// host is a broker that is really connected to. It leads all partitions of the
// topic "t", as its metadata tell until they are told to tell otherwise.
type host struct {
	*sarama.MockBroker
	t    *testing.T
	open atomic.Int32 // connections
}

// partitions are those of the topic.
const partitions = 4

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at the end
	if err != nil {
		t.Fatal(err)
	}
	h.MockBroker = sarama.NewMockBrokerListener(t, 1, &counted{Listener: l, open: &h.open})
	h.lead(h)
	return h
}

// lead has the broker tell who leads the topic: nobody, if by is nil.
func (h *host) lead(by *host) {
	m := sarama.NewMockMetadataResponse(h.t)
	if by == nil {
		m.SetBroker(h.Addr(), h.BrokerID()).SetError("t", sarama.ErrLeaderNotAvailable)
	} else {
		m.SetBroker(by.Addr(), by.BrokerID())
		for i := range int32(partitions) {
			m.SetLeader("t", i, by.BrokerID())
		}
	}
	h.SetHandlerByMap(map[string]sarama.MockResponse{
		"ApiVersionsRequest": sarama.NewMockApiVersionsResponse(h.t).SetApiKeys([]sarama.ApiVersionsResponseKey{
			{ApiKey: 0, MaxVersion: 8}, {ApiKey: 3, MaxVersion: 8}, {ApiKey: 18, MaxVersion: 3}, {ApiKey: 22, MaxVersion: 4},
		}),
		"InitProducerIDRequest": sarama.NewMockInitProducerIDResponse(h.t),
		"MetadataRequest":       m,
		"ProduceRequest":        sarama.NewMockProduceResponse(h.t),
	})
}

// asked is how many requests of a kind have come.
func asked[R any](h *host) (n int) {
	for _, r := range h.History() {
		if _, ok := r.Request.(R); ok {
			n++
		}
	}
	return n
}

// counted counts the connections that its peers have open.
type counted struct {
	net.Listener
	open *atomic.Int32
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &countedConn{Conn: c, open: l.open}, nil
}

type countedConn struct {
	net.Conn
	once sync.Once
	open *atomic.Int32
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// connected is a producer that is really connected.
type connected struct {
	*Producer
	client sarama.Client
	ended  chan error
}

func connect(t *testing.T, to *host) *connected {
	t.Helper()
	conf, err := client.Harden(nil)
	if err != nil {
		t.Fatal(err)
	}
	conf = client.Appender(conf)
	c := &connected{ended: make(chan error, 100)}
	if c.client, err = sarama.NewClient([]string{to.Addr()}, conf); err != nil {
		t.Fatal(err)
	}
	c.Producer, err = New(Connect(c.client), Config{BatchBytes: 1000, RequestBytes: 1000, Patience: patience, Backoff: backoff},
		func(_ *sarama.ProducerMessage, err error) { c.ended <- err })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *connected) close() {
	c.Close()
	_ = c.client.Close()
}

func (c *connected) sendAll() {
	for i := range int32(partitions) {
		c.Send(&sarama.ProducerMessage{Topic: "t", Partition: i, Value: text(fmt.Sprint(i))})
	}
}

// landed waits until all have landed that were sent.
func (c *connected) landed(t *testing.T) {
	t.Helper()
	for range partitions {
		select {
		case err := <-c.ended:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(patience):
			t.Fatal("a record has no end")
		}
	}
}

// eventually waits for what connections do in real time.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("never: ", what)
		}
	}
}

func TestTheConnectionToWhereABrokerWasIsClosed(t *testing.T) {
	there, next := newHost(t), newHost(t)
	defer there.Close()
	defer next.Close()
	c := connect(t, there)
	defer c.close()
	c.sendAll()
	c.landed(t)
	there.lead(next)
	if err := c.cluster.Refresh("t"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.cluster.Leader("t", 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "only the client's own connection is left", func() bool { return there.open.Load() == 1 })
	c.sendAll()
	c.landed(t)
	if n := asked[*sarama.ProduceRequest](next); n == 0 {
		t.Error("nothing came to where it is")
	}
}

func TestATopicWithoutAnyLeaderIsAskedForOnceForAllItsPartitions(t *testing.T) {
	there := newHost(t)
	defer there.Close()
	c := connect(t, there)
	defer c.close()
	c.sendAll()
	c.landed(t)
	there.lead(nil)
	before := asked[*sarama.MetadataRequest](there)
	if err := c.cluster.Refresh("t"); !errors.Is(err, sarama.ErrLeaderNotAvailable) {
		t.Fatal(err)
	}
	for i := range int32(partitions) {
		if _, err := c.cluster.Leader("t", i); !errors.Is(err, sarama.ErrLeaderNotAvailable) {
			t.Error(err)
		}
	}
	if n := asked[*sarama.MetadataRequest](there) - before; n > 2 {
		t.Errorf("asked %d times", n)
	}
	there.lead(there)
	if err := c.cluster.Refresh("t"); err != nil {
		t.Fatal(err)
	}
	for i := range int32(partitions) {
		if _, err := c.cluster.Leader("t", i); err != nil {
			t.Error(err)
		}
	}
}

// A broker is killed in between, so that all that can be open is, and was.
func TestNothingIsLeftRunningAfterClose(t *testing.T) {
	there, next := newHost(t), newHost(t)
	there.lead(next)
	c := connect(t, there)
	c.sendAll()
	c.landed(t)
	there.lead(there)
	next.Close()
	c.sendAll()
	c.landed(t)
	c.sendAll()
	c.close()
	eventually(t, "all connections are closed", func() bool { return there.open.Load() == 0 })
	there.Close()
	eventually(t, "all that was started has ended", func() bool { return len(running()) == 0 })
}

// running are the goroutines of this package and of sarama, but for the one that
// asks.
func running() (all []string) {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	for _, g := range strings.Split(string(text), "\n\n")[1:] {
		if strings.Contains(g, "IBM/sarama") || strings.Contains(g, "internal/produce.") {
			all = append(all, g)
		}
	}
	return all
}
