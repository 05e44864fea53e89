package httpmwtest

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// Step is what the backend does with one request. Steps are values: each
// method returns a changed copy.
type Step struct {
	delay  time.Duration
	status int
	header http.Header
	body   string
	stall  time.Duration // before the last byte of the body
	lost   bool          // the last byte never comes
	times  int           // 0 is once
	err    error
	serve  func(*http.Request) (*http.Response, error)
}

// Status answers with the status and an empty body.
func Status(code int) Step { return Step{status: code} }

// Hang waits for d before it answers 200: longer than an attempt timeout, it
// is a backend that does not answer.
func Hang(d time.Duration) Step { return Step{delay: d, status: http.StatusOK} }

// BlackHole never answers: the request ends with its context.
func BlackHole() Step { return Step{delay: 1<<63 - 1} }

// Fail fails with err once the request was sent and may have had its effect.
func Fail(err error) Step { return Step{err: err} }

// Refuse fails as a server that does not listen does: nothing was sent.
func Refuse() Step {
	return Fail(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})
}

// Reset fails as a connection does that the server closes after it has taken
// the request: whether it had its effect is not known.
func Reset() Step {
	return Fail(&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET})
}

// Serve answers with f. The request's body has not been read then.
func Serve(f func(*http.Request) (*http.Response, error)) Step { return Step{serve: f} }

// After makes the step wait for d first.
func (s Step) After(d time.Duration) Step {
	s.delay += d
	return s
}

// Header adds a header to the answer.
func (s Step) Header(name, value string) Step {
	s.header = maps.Clone(s.header)
	if s.header == nil {
		s.header = http.Header{}
	}
	s.header.Add(name, value)
	return s
}

// RetryAfter adds a Retry-After of whole seconds.
func (s Step) RetryAfter(d time.Duration) Step {
	return s.Header("Retry-After", strconv.Itoa(int(d/time.Second)))
}

// Body gives the answer a body.
func (s Step) Body(text string) Step {
	s.body = text
	return s
}

// Stall makes the answer's body fall silent for d before its last byte.
func (s Step) Stall(d time.Duration) Step {
	s.stall = d
	return s
}

// Truncate makes the answer's body break off before its last byte, as a
// connection does that is lost: reading it ends in io.ErrUnexpectedEOF.
func (s Step) Truncate() Step {
	s.lost = true
	return s
}

// Times makes the step serve n requests in a row: an outage, say.
func (s Step) Times(n int) Step {
	s.times = n
	return s
}

// do does the step for req, whose body it consumes and tells.
func (s Step) do(req *http.Request, tell func(string)) (*http.Response, error) {
	if s.serve != nil {
		return s.serve(req)
	}
	content, err := consume(req)
	tell(content)
	if err != nil {
		return nil, err
	}
	if err := sleep(req, s.delay, nil); err != nil {
		return nil, err
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.response(req), nil
}

// consume reads and closes the request's body, as a transport must.
func consume(req *http.Request) (string, error) {
	if req.Body == nil {
		return "", nil
	}
	content, err := io.ReadAll(req.Body)
	return string(content), errors.Join(err, req.Body.Close())
}

// sleep waits for d, for the end of the request's context, or until closed.
func sleep(req *http.Request, d time.Duration, closed <-chan struct{}) error {
	if d <= 0 {
		return req.Context().Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-closed:
		return http.ErrBodyReadAfterClose
	case <-req.Context().Done():
		return req.Context().Err()
	}
}
