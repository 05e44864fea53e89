package httpmw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// letGo is how long another attempt waits for the one before to let go of the
// request's body. net/http does so within microseconds of its end; a transport
// that never does breaks the contract of http.RoundTripper.
const letGo = time.Second

// upload is the exchange of one request with a body: it makes the body of each
// attempt, and sees that the caller's is closed once.
//
// Where the request has GetBody, that makes every further body. Otherwise the
// caller's body is remembered while the first attempt streams it, up to the
// replay limit: a further attempt sends what is remembered and streams on.
type upload struct {
	exchange
	source *source
	again  func() (io.ReadCloser, error) // the request's GetBody, or nil

	mu    sync.Mutex
	parts []*part // the bodies of all attempts, the latest last
	over  bool    // the call has ended
}

// newUpload returns the exchange for req, and the request of its first attempt.
func newUpload(t *Transport, req *http.Request) (*upload, *http.Request) {
	u := &upload{exchange: exchange{t}, again: req.GetBody}
	u.source = &source{from: req.Body}
	if u.again == nil {
		u.source.limit = t.now().replayLimit
	}
	return u, u.with(req, u.source.reader())
}

// with returns a copy of req whose body is from.
func (u *upload) with(req *http.Request, from io.ReadCloser) *http.Request {
	out := new(http.Request)
	*out = *req
	out.Body = u.part(from)
	if u.again != nil {
		out.GetBody = u.reopen
	}
	return out
}

// part returns from as the body of the latest attempt.
func (u *upload) part(from io.ReadCloser) *part {
	p := &part{from: from, released: make(chan struct{})}
	u.mu.Lock()
	u.parts = append(u.parts, p)
	u.mu.Unlock()
	return p
}

// reopen is the GetBody of the attempts: net/http calls it to send a request
// again when a reused connection turns out to be dead.
func (u *upload) reopen() (io.ReadCloser, error) {
	b, err := u.open()
	if err != nil {
		return nil, err
	}
	p := u.part(b)
	p.handOver(context.Background())
	return p, nil
}

// open asks GetBody for a body.
func (u *upload) open() (io.ReadCloser, error) {
	b, err := u.again()
	if err == nil && b == nil {
		err = errors.New("it returned no body")
	}
	if err != nil {
		return nil, fmt.Errorf("httpmw: GetBody: %w", err)
	}
	return b, nil
}

// Repeat allows what [exchange.Repeat] allows, if the body can be sent again.
func (u *upload) Repeat(req *http.Request, o backstay.Outcome) error {
	if err := u.exchange.Repeat(req, o); err != nil {
		return err
	}
	switch {
	case u.again != nil:
		return nil
	case u.latest().awaited():
		return errInterrupted // an answer came early; to throw it away would end the body, too
	default:
		return u.source.unrepeatable()
	}
}

// latest returns the body that was made last.
func (u *upload) latest() *part {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.parts[len(u.parts)-1]
}

// Hedge allows what [exchange.Hedge] allows, if every copy can have a body.
func (u *upload) Hedge(req *http.Request) error {
	if u.again == nil {
		return errors.New("httpmw: copies of a request with a body need GetBody")
	}
	return u.exchange.Hedge(req)
}

// Fork makes the request of another attempt, once the one before has let go of
// its body: a GetBody may rewind what it read. A request that was not sent yet
// keeps its body.
func (u *upload) Fork(req *http.Request, attempt int) (*http.Request, error) {
	req = req.Clone(req.Context())
	if p, ok := req.Body.(*part); ok && attempt == 1 && p.fresh() {
		return req, nil
	}
	if !u.latest().waitReleased(letGo) {
		return nil, fmt.Errorf("httpmw: the last attempt still holds the request's body %v after its end", letGo)
	}
	if u.again == nil {
		if err := u.source.unrepeatable(); err != nil {
			return nil, err
		}
		return u.with(req, u.source.reader()), nil
	}
	b, err := u.open()
	switch {
	case err != nil:
		return nil, err
	case u.shared(b):
		return nil, errShared
	}
	if req = u.with(req, b); u.ended() {
		_ = req.Body.Close()
		return nil, errors.New("httpmw: the call has ended without this copy")
	}
	return req, nil
}

// errShared is why a copy is not sent beside one that may read the same body.
var errShared = errors.New("httpmw: GetBody returns one body again and again: copies need one each")

// shared reports whether b, of GetBody, is the body of an attempt under way:
// the client of Connect rewinds and returns the one that it has.
func (u *upload) shared(b io.ReadCloser) bool {
	u.mu.Lock()
	parts := u.parts
	u.mu.Unlock()
	return slices.ContainsFunc(parts, func(p *part) bool { return p.needs(b) })
}

// ended reports whether finish was called, which closes the bodies that were
// made before.
func (u *upload) ended() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.over
}

// finish ends the call: no further attempt will be made. It closes every body
// that no transport was given, and the caller's body unless a transport still
// sends it; then that transport's Close does. Where the call was not answered,
// no transport has any business with a body.
func (u *upload) finish(answered bool) {
	u.mu.Lock()
	u.over = true
	parts := u.parts
	u.mu.Unlock()
	u.source.finish()
	for _, p := range parts {
		if !answered {
			_ = p.Close()
		}
		if p.closeUnlessHandedOver() {
			_ = u.source.release()
		}
	}
}
