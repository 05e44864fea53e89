package httpmw

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"sync"
	"time"
)

// part is the body of one attempt. It tells when the transport has let go of
// it: when it is closed and no Read is under way any more.
type part struct {
	from io.ReadCloser

	mu       sync.Mutex
	handed   bool // a transport has it, and will close it
	awaiting bool // the transport has not answered yet, and may ask for the body anew
	closed   bool
	reading  bool
	failed   bool          // a Read has failed before the body was closed
	released chan struct{} // closed once closed && !reading
	unwatch  func() bool   // ends the watch over the attempt's context
}

func (p *part) Read(b []byte) (int, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
	p.reading = true
	p.mu.Unlock()

	n, err := p.from.Read(b)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = false
	if p.closed {
		close(p.released)
	} else if err != nil && err != io.EOF {
		p.failed = true
	}
	return n, err
}

// broken reports whether the body itself failed, before anybody closed it.
func (p *part) broken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// awaited reports whether a Read waits for more of the body.
func (p *part) awaited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reading
}

// fresh reports whether nobody has been given the body yet.
func (p *part) fresh() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.handed && !p.closed
}

// Close ends the attempt's use of the body. A Read under way is woken, if the
// body's own Close does that.
func (p *part) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	reading, unwatch := p.reading, p.unwatch
	if !reading {
		close(p.released)
	}
	p.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	if r, ok := p.from.(*replay); ok && reading {
		return r.interrupt()
	}
	return p.from.Close()
}

// handOver says that a transport has been given the body, and closes the body
// when ctx ends: over HTTP/1.1 net/http does not return from a cancelled
// request before a Read of its body has returned.
func (p *part) handOver(ctx context.Context) {
	p.mu.Lock()
	p.handed = true
	p.mu.Unlock()
	unwatch := context.AfterFunc(ctx, func() {
		p.await(false)
		_ = p.Close()
	})
	p.mu.Lock()
	p.unwatch = unwatch
	closed := p.closed
	p.mu.Unlock()
	if closed {
		unwatch()
	}
}

// await notes whether the transport's answer is waited for.
func (p *part) await(answer bool) {
	p.mu.Lock()
	p.awaiting = answer
	p.mu.Unlock()
}

// needs reports whether the transport may still rewind and send b, which it
// was given.
func (p *part) needs(b io.ReadCloser) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	given := p.from
	if r, ok := given.(*replay); ok {
		given = r.from
	}
	return p.awaiting && reflect.ValueOf(b).Comparable() && b == given
}

// closeUnlessHandedOver closes a body that no transport will close. It reports
// whether the body is closed now.
func (p *part) closeUnlessHandedOver() bool {
	p.mu.Lock()
	handed, closed := p.handed, p.closed
	p.mu.Unlock()
	if !handed && !closed {
		_ = p.Close()
	}
	return !handed || closed
}

// waitReleased reports whether the transport lets go of the body within d. A
// body that no transport was given is free already.
func (p *part) waitReleased(d time.Duration) bool {
	p.closeUnlessHandedOver()
	select {
	case <-p.released:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.released:
		return true
	case <-timer.C:
		return false
	}
}
