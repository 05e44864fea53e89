package direct

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Server is the owner's side: it keeps the connections of clients. It is safe
// for concurrent use.
type Server struct {
	config   Config
	listener net.Listener
	lost     func(Letter)
	tally    tally
	work     sync.WaitGroup
	done     chan struct{}

	mu     sync.RWMutex
	conns  map[net.Conn]struct{} // all that are open
	lines  map[string]*line      // by peer: those after the handshake
	closed bool
}

// Counts are what has happened at a Server.
type Counts struct {
	// Clients are connected now.
	Clients int
	// Sent were written to connections, Lost were taken and may not have gone
	// out: they were handed back.
	Sent, Lost uint64
	// Connections that were turned away: with another token; that were not done
	// with the handshake in time; that were too many; that have not kept to the
	// protocol, or failed.
	Token, Late, Full, Fault uint64
}

type tally struct{ sent, lost, token, late, full, fault atomic.Uint64 }

// Serve takes connections of the listener, which it closes in the end. lost gets
// the letters back that were taken and may not have arrived; it must not block.
func Serve(listener net.Listener, c Config, lost func(Letter)) *Server {
	s := &Server{
		config: c, listener: listener, lost: lost, done: make(chan struct{}),
		conns: make(map[net.Conn]struct{}), lines: make(map[string]*line),
	}
	s.work.Go(s.accept)
	return s
}

// Answer sends a letter to a peer, and reports whether it was taken: the peer is
// connected, and not behind. It does not wait.
func (s *Server) Answer(peer string, m Letter) bool {
	s.mu.RLock()
	l := s.lines[peer]
	s.mu.RUnlock()
	if l == nil || len(m.To) > longestTo || len(m.Data) > s.config.Largest {
		return false
	}
	taken := l.offer(m)
	if !taken {
		s.tally.lost.Add(1)
	}
	return taken
}

// Counts returns what has happened until now.
func (s *Server) Counts() Counts {
	s.mu.RLock()
	clients := len(s.lines)
	s.mu.RUnlock()
	t := &s.tally
	return Counts{
		Clients: clients, Sent: t.sent.Load(), Lost: t.lost.Load(),
		Token: t.token.Load(), Late: t.late.Load(), Full: t.full.Load(), Fault: t.fault.Load(),
	}
}

// Close ends all connections, and returns when nothing of the server is left.
// What was not sent is lost.
func (s *Server) Close() {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	if !again {
		close(s.done)
		_ = s.listener.Close() // nothing depends on it
		for conn := range conns {
			_ = conn.Close()
		}
	}
	s.work.Wait()
}

// accept takes connections until the server is closed.
func (s *Server) accept() {
	const pause = 100 * time.Millisecond // while the system has no room for more
	for {
		conn, err := s.listener.Accept()
		if err == nil {
			s.begin(conn)
			continue
		}
		select {
		case <-s.done:
			return
		default:
		}
		s.config.Tell(s.listener.Addr().String(), fmt.Errorf("accepting: %w", err))
		select {
		case <-s.done:
			return
		case <-time.After(pause):
		}
	}
}

// begin serves a connection, if there is room for it.
func (s *Server) begin(conn net.Conn) {
	s.mu.Lock()
	room := !s.closed && len(s.conns) < s.config.Connections
	if room {
		s.conns[conn] = struct{}{}
	}
	s.mu.Unlock()
	if !room {
		_ = conn.Close()
		s.refuse(conn, errFull)
		return
	}
	s.work.Go(func() {
		defer s.leave(conn)
		if err := s.serve(conn); err != nil {
			s.refuse(conn, err)
		}
	})
}

func (s *Server) leave(conn net.Conn) {
	_ = conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// serve speaks with a client until one of both goes. Its error is a reason to
// turn the client away.
func (s *Server) serve(raw net.Conn) error {
	conn := raw
	if s.config.TLS != nil {
		conn = tls.Server(raw, s.config.TLS)
	}
	peer, err := s.config.admit(conn)
	if err != nil {
		return err
	}
	l := newLine(conn, raw)
	l.sent = func(n int) { s.tally.sent.Add(uint64(n)) } //nolint:gosec // a count
	l.lost = func(m Letter) {
		s.tally.lost.Add(1)
		s.lost(m)
	}
	s.enter(peer, l)
	defer s.exit(peer, l)
	err = l.run(0, func(*Letter) error { return fmt.Errorf("%w: a client sends no answers", errFault) })
	if errors.Is(err, errFault) {
		return err
	}
	return nil // it has gone
}

// enter makes a line that of its peer, in place of one that is there still.
func (s *Server) enter(peer string, l *line) {
	s.mu.Lock()
	before := s.lines[peer]
	s.lines[peer] = l
	s.mu.Unlock()
	if before != nil {
		before.end(errReplaced)
	}
}

func (s *Server) exit(peer string, l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines[peer] == l {
		delete(s.lines, peer)
	}
}

// refuse counts and tells that a client was turned away.
func (s *Server) refuse(conn net.Conn, err error) {
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return
	}
	switch {
	case errors.Is(err, ErrToken):
		s.tally.token.Add(1)
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.tally.late.Add(1)
	case errors.Is(err, errFull):
		s.tally.full.Add(1)
	default:
		s.tally.fault.Add(1)
	}
	s.config.Tell(conn.RemoteAddr().String(), fmt.Errorf("turning a client away: %w", err))
}
