package httpmw

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/timeout"
)

// bind cancels c when the body of resp has been read to its end, has
// failed, or is closed; at once if there is none. A body may be bound to
// several.
func bind(resp *http.Response, c backstay.Canceler) {
	if resp.Body == nil || resp.Body == http.NoBody {
		c.Cancel()
		return
	}
	bodyOf(resp).onEnd(c)
}

// bodyOf returns the body of resp as one of ours, wrapping it if it is not.
// After 101 Switching Protocols the body also writes, and still does.
func bodyOf(resp *http.Response) *body {
	switch b := resp.Body.(type) {
	case *body:
		return b
	case *duplex:
		return b.body
	}
	b := &body{from: resp.Body}
	b.ends = b.room[:0]
	resp.Body = b
	if w, ok := b.from.(io.Writer); ok {
		resp.Body = &duplex{b, w}
	}
	return b
}

// body is a response body that knows when it is used up.
type body struct {
	from io.ReadCloser

	mu     sync.Mutex
	ends   []backstay.Canceler  // what to cancel at the end
	room   [2]backstay.Canceler // where ends begins: more than a timeout's and a deadline's are rare
	ended  bool
	closed atomic.Bool

	idle *idleTimer // nil: the body may be silent for ever
}

// duplex is the body of a connection that changed its protocol.
type duplex struct {
	*body
	io.Writer
}

// CloseWrite ends the writing alone, which tells the other side that there is
// no more to come, if the connection can.
func (d *duplex) CloseWrite() error {
	if c, ok := d.Writer.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return fmt.Errorf("httpmw: CloseWrite: %w", http.ErrNotSupported)
}

// onEnd cancels c when the body ends, at once if it has.
func (b *body) onEnd(c backstay.Canceler) {
	b.mu.Lock()
	ended := b.ended
	if !ended {
		b.ends = append(b.ends, c)
	}
	b.mu.Unlock()
	if ended {
		c.Cancel()
	}
}

// Read reads on; at the end of the body it frees what the body holds.
func (b *body) Read(p []byte) (n int, err error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.idle != nil {
		n, err = b.idle.read(b.from, p)
	} else {
		n, err = b.from.Read(p)
	}
	if err != nil {
		b.end()
	}
	return n, err
}

// Close closes the body and frees what it holds. It may be called again.
func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	err := b.from.Close()
	b.end()
	return err
}

func (b *body) end() {
	b.mu.Lock()
	ends := b.ends
	b.ended, b.ends = true, nil
	b.mu.Unlock()
	for _, c := range ends {
		c.Cancel()
	}
}

// idleTimer ends a body that has been silent for too long. It runs only while
// somebody waits in Read: a slow reader is not a silent server.
type idleTimer struct {
	after time.Duration
	name  string
	timer *time.Timer // made by the first Read
	fired atomic.Bool
}

func (t *idleTimer) read(from io.ReadCloser, p []byte) (int, error) {
	if t.timer == nil {
		t.timer = time.AfterFunc(t.after, func() {
			t.fired.Store(true)
			_ = from.Close() // wakes the Read
		})
	} else {
		t.timer.Reset(t.after)
	}
	n, err := from.Read(p)
	t.timer.Stop()
	if t.fired.Load() {
		return n, &timeout.Error{Name: t.name, After: t.after, Err: err}
	}
	return n, err
}
