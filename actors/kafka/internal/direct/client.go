package direct

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/retry"
)

// Client keeps one connection to each owner. It is safe for concurrent use.
type Client struct {
	config    Config
	peer      string
	take      func(Letter)
	dial      func(ctx context.Context, address string) (net.Conn, error)
	again     *retry.Policy
	ctx       context.Context //nolint:containedctx // that of its life
	cancel    context.CancelFunc
	work      sync.WaitGroup
	connected atomic.Int32

	mu     sync.Mutex
	owners map[string]context.CancelFunc // by address
	closed bool
}

// NewClient returns a Client that has no connections yet. take gets what comes;
// it must not block, and is called concurrently.
func NewClient(c Config, peer string, take func(Letter)) *Client {
	dialer := net.Dialer{Timeout: patience}
	again, err := retry.New(retry.Config{
		MaxAttempts: math.MaxInt32, Base: shortest, Cap: longest, RetryNested: true, Budget: retry.NoBudget,
	})
	if err != nil {
		panic(err) // its numbers are here
	}
	k := &Client{
		config: c, peer: peer, take: take, again: again, owners: make(map[string]context.CancelFunc),
		dial: func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		},
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// The bounds of waits between two attempts to connect.
const (
	shortest = 50 * time.Millisecond
	longest  = 2 * time.Second
)

// Follow says which owners there are, by address: connections to others end.
func (k *Client) Follow(addresses map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	for address, leave := range k.owners {
		if !addresses[address] {
			delete(k.owners, address)
			leave()
		}
	}
	for address := range addresses {
		if k.owners[address] == nil {
			ctx, leave := context.WithCancel(k.ctx)
			k.owners[address] = leave
			k.work.Go(func() { k.keep(ctx, address) })
		}
	}
}

// Connected is how many owners there is a connection to.
func (k *Client) Connected() int { return int(k.connected.Load()) }

// Close ends all connections, and returns when nothing of the client is left.
func (k *Client) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.cancel()
	k.work.Wait()
}

// keep keeps a connection to an owner until ctx ends.
func (k *Client) keep(ctx context.Context, address string) {
	for ctx.Err() == nil {
		l, err := retry.Do(retry.MarkRepeatable(ctx), k.again, func(ctx context.Context) (*line, error) {
			return k.connect(ctx, address)
		})
		if err == nil {
			k.hold(ctx, l, address)
		}
		select { // an owner that starts again is not to meet all its clients at once
		case <-time.After(rand.N(2 * shortest)): //nolint:gosec // to spread
		case <-ctx.Done():
		}
	}
	k.config.Tell(address, nil) // it is nobody's business any more
}

// connect makes one attempt, and tells how it went.
func (k *Client) connect(ctx context.Context, address string) (*line, error) {
	l, err := k.open(ctx, address)
	if ctx.Err() == nil {
		k.config.Tell(address, err)
	}
	return l, err
}

func (k *Client) open(ctx context.Context, address string) (*line, error) {
	raw, err := k.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	conn := raw
	if k.config.TLS != nil {
		conn = tls.Client(raw, k.named(address))
	}
	heed := context.AfterFunc(ctx, func() { _ = raw.Close() })
	err = k.config.introduce(conn, k.peer)
	if !heed() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("connecting to the owner at %s: %w", address, err)
	}
	return newLine(conn, raw), nil
}

// named is the configuration of TLS with the name of the server, if it has none.
func (k *Client) named(address string) *tls.Config {
	if k.config.TLS.ServerName != "" {
		return k.config.TLS
	}
	c := k.config.TLS.Clone()
	c.ServerName, _, _ = net.SplitHostPort(address)
	return c
}

// hold takes what comes, for as long as the connection lasts.
func (k *Client) hold(ctx context.Context, l *line, address string) {
	stop := context.AfterFunc(ctx, func() { l.end(errGone) })
	defer stop()
	k.connected.Add(1)
	err := l.run(k.config.Largest, func(m *Letter) error {
		k.take(*m)
		return nil
	})
	k.connected.Add(-1)
	if ctx.Err() == nil {
		k.config.Tell(address, fmt.Errorf("connection to the owner at %s: %w", address, err))
	}
}
