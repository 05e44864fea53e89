package httpmw

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// source is the caller's body. While an attempt streams it, it remembers what
// has passed, up to limit bytes, for the attempts that may follow.
type source struct {
	from  io.ReadCloser
	limit int64 // 0: GetBody makes all further bodies; below 0: remember nothing

	mu     sync.Mutex
	buf    []byte
	lost   error // why the beginning can no longer be sent again; nil if it can
	err    error // what the caller's body ended with, io.EOF if well
	last   bool  // no further attempt will ask for a reader
	closed bool
}

// reader returns a body that begins at the beginning.
func (s *source) reader() io.ReadCloser { return &replay{source: s} }

// unrepeatable returns why the body cannot be sent again; nil if it can.
func (s *source) unrepeatable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// next reads on in the caller's body and remembers what it read. Only one
// attempt reads at a time, so the lock is not held while the caller's body
// makes it wait.
func (s *source) next(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.from.Read(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	switch {
	case s.lost != nil:
	case int64(len(s.buf)+n) > s.limit:
		s.buf = nil
		s.lost = fmt.Errorf("httpmw: the request's body is longer than the replay limit of %d bytes: "+
			"set GetBody, or raise the limit", s.limit)
	default:
		s.buf = append(s.buf, b[:n]...)
	}
	return n, err
}

// finish says that no further attempt will come: the next Close closes the
// caller's body.
func (s *source) finish() {
	s.mu.Lock()
	s.last = true
	s.mu.Unlock()
}

// release closes the caller's body, unless another attempt may need it.
func (s *source) release() error {
	s.mu.Lock()
	keep := s.closed || (!s.last && s.lost == nil && s.limit != 0)
	if !keep {
		s.closed = true
	}
	s.mu.Unlock()
	if keep {
		return nil
	}
	return s.from.Close()
}

// errInterrupted is why a body cannot be sent again that its caller was still
// writing when the attempt ended.
var errInterrupted = errors.New("httpmw: the attempt ended while the request's body was still to come: set GetBody")

// interrupt closes the caller's body, to wake a Read that waits for it. A
// transport that gives up does not return before its Read does.
func (s *source) interrupt() error {
	s.mu.Lock()
	if s.lost == nil {
		s.buf, s.lost = nil, errInterrupted
	}
	s.mu.Unlock()
	return s.release()
}

// replay is the body of one attempt: what is remembered, then the rest.
type replay struct {
	*source
	at int
}

func (r *replay) Read(b []byte) (int, error) {
	r.mu.Lock()
	n := 0
	if r.at < len(r.buf) {
		n = copy(b, r.buf[r.at:])
	}
	r.mu.Unlock()
	if n > 0 {
		r.at += n
		return n, nil
	}
	n, err := r.next(b)
	r.at += n
	return n, err
}

// Close ends the attempt's use of the body.
func (r *replay) Close() error { return r.release() }
