package testkit

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Pipes is a listener in memory: servers and clients on it run in virtual time.
type Pipes struct {
	name   string
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipes returns a listener whose address is name.
func NewPipes(name string) *Pipes {
	return &Pipes{name: name, calls: make(chan net.Conn), closed: make(chan struct{})}
}

// ErrRefused is what dialling gets where nobody listens.
var ErrRefused = &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}

// Dial connects to the listener, once it accepts.
func (p *Pipes) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.calls <- far:
		return near, nil
	case <-p.closed:
		return nil, ErrRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection that is dialled.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the listening; connections stay.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is the name.
func (p *Pipes) Addr() net.Addr { return pipeAddr(p.name) }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }
