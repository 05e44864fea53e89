package kafka

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/backstay-go/backstay/actors/kafka/internal/direct"
	"github.com/backstay-go/backstay/actors/kafka/internal/membership"
)

// lines are the direct connections of this process: those to owners, once it
// listens for answers, and those of clients, once it hosts actors. They are nil
// where there is no Config.Direct.
type lines struct {
	log    *Log
	config *Direct

	opening sync.Mutex // held while one of both sides is opened

	mu      sync.RWMutex
	client  *direct.Client // nil: nobody listens
	server  *direct.Server // nil: nothing is hosted
	address string         // of the server, as clients reach it
	closed  bool
}

func newLines(l *Log) *lines {
	if l.config.Direct == nil {
		return nil
	}
	return &lines{log: l, config: l.config.Direct}
}

// shared is what both sides have in common.
func (n *lines) shared(tell func(peer string, err error)) direct.Config {
	return direct.Config{
		App: n.log.config.App, Token: n.config.Token, TLS: n.config.TLS, Largest: n.log.config.largest(),
		Connections: cmp.Or(n.config.Connections, DefaultConnections), Tell: tell,
	}
}

// listen begins to follow the owners by their beats. What was read of those is
// not needed: where this process stands is enough.
func (n *lines) listen(ctx context.Context) error {
	if n == nil {
		return nil
	}
	n.opening.Lock()
	defer n.opening.Unlock()
	if n.client != nil {
		return nil
	}
	client := direct.NewClient(n.shared(n.reached), n.log.listeners.peer, n.log.listeners.accept)
	_, err := n.log.records(ctx, n.follow(client)) // until the Log is closed
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || err != nil {
		client.Close()
		return err
	}
	n.client = client
	return nil
}

// follow has connections follow the owners that beat.
func (n *lines) follow(client *direct.Client) func(data []byte, offset, at int64) {
	onlooker := membership.NewOnlooker(n.log.config.SuspectAfter)
	return func(data []byte, _, at int64) {
		onlooker.Hear(data, at)
		owners := onlooker.Addresses()
		delete(owners, n.own()) // answers to here need no connection
		client.Follow(owners)
	}
}

// serve begins to take connections, and returns the address that clients reach
// them by: none, if this process answers over the topic.
func (n *lines) serve(ctx context.Context) (address string, err error) {
	if n == nil || n.config.Listen == "" {
		return "", nil
	}
	n.opening.Lock()
	defer n.opening.Unlock()
	if address := n.own(); address != "" {
		return address, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", n.config.Listen)
	if err != nil {
		return "", fmt.Errorf("kafka: listening for direct connections: %w", err)
	}
	server := direct.Serve(listener, n.shared(n.tell), n.log.detour)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		server.Close()
		return "", nil
	}
	n.server, n.address = server, n.config.advertised(listener.Addr())
	return n.address, nil
}

// own is the address of this process, if it has one.
func (n *lines) own() string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.address
}

// answer sends an answer to a peer, and reports whether it could.
func (n *lines) answer(peer string, m direct.Letter) bool {
	if n == nil {
		return false
	}
	n.mu.RLock()
	server := n.server
	n.mu.RUnlock()
	return server != nil && server.Answer(peer, m)
}

// reached notes how an owner was reached.
func (n *lines) reached(owner string, err error) {
	n.log.vitals.note(vital{part: "direct", topic: owner, partition: noPartition}, err)
	n.tell(owner, err)
}

func (n *lines) tell(peer string, err error) {
	if err != nil && n.config.OnError != nil {
		n.config.OnError(peer, err)
	}
}

func (n *lines) health() (h DirectHealth) {
	if n == nil {
		return h
	}
	n.mu.RLock()
	client, server := n.client, n.server
	n.mu.RUnlock()
	if client != nil {
		h.Owners = client.Connected()
	}
	if server != nil {
		c := server.Counts()
		h.Clients, h.Sent, h.Detoured = c.Clients, c.Sent, c.Lost
		h.WrongToken, h.Late, h.TooMany, h.Faulty = c.Token, c.Late, c.Full, c.Fault
	}
	return h
}

// hangUp ends all connections; the answers on their way go over the topic.
func (n *lines) hangUp() {
	if n == nil {
		return
	}
	n.mu.Lock()
	n.closed = true
	client, server := n.client, n.server
	n.mu.Unlock()
	if server != nil {
		server.Close()
	}
	if client != nil {
		client.Close()
	}
}
