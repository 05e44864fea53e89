package httpmw

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
)

// answer is the http.ResponseWriter of a handler behind a [Handler]. With its
// first word the limits of the request are lifted, so that what streams is not
// cut.
//
// A handler that may be left behind has headers of its own, and everything
// that it does is done under the lock: after it was left, what it writes goes
// nowhere. The lock is held while a write waits for the network, because the
// one who leaves must not return to net/http before that write has ended.
type answer struct {
	w      http.ResponseWriter
	limits *middleware.Limits
	relay  *middleware.Relay
	outer  http.Header // w's headers before the handler had them; nil: none
	own    http.Header // the handler's, where it may be left behind; nil otherwise

	mu      sync.Mutex // guards the following, where there is own
	status  int        // of the answer that has begun; 0: none has
	streams bool
	keyed   bool

	parting sync.Mutex // taken for a moment, last
	left    bool       // written under both, read under either
}

// openAnswer is an answer whose handler is never left behind, and so may reach
// what is below.
type openAnswer struct{ answer }

// Unwrap returns the ResponseWriter below, for http.ResponseController.
func (a *openAnswer) Unwrap() http.ResponseWriter { return a.w }

// enter begins something that the handler does. It reports false after the
// handler was left behind; otherwise leave must follow.
func (a *answer) enter() bool {
	if a.own == nil {
		return true
	}
	a.mu.Lock()
	if a.left {
		a.mu.Unlock()
		return false
	}
	return true
}

func (a *answer) leave() {
	if a.own != nil {
		a.mu.Unlock()
	}
}

// begin is the first word of the final answer. It is an error where a handler
// comes too late that is about to be answered for.
func (a *answer) begin(status int) error {
	if a.status != 0 {
		return nil
	}
	if !a.limits.Lift() && a.own != nil {
		return http.ErrHandlerTimeout
	}
	a.share()
	if h := a.w.Header(); a.relay.Final() && retryable(status) && h[wire.HeaderRetry] == nil {
		h[wire.HeaderRetry] = []string{wire.RetryNever}
	}
	a.status = status
	return nil
}

// share makes the handler's own headers those of the answer.
func (a *answer) share() {
	if a.own == nil {
		return
	}
	h := a.w.Header()
	clear(h)
	for name, values := range a.own {
		h[name] = append([]string(nil), values...) // the handler keeps its own
	}
}

// retryable reports whether clients are tempted to try again after status.
func retryable(status int) bool {
	class := classOf(status)
	return class.Retryable()
}

// Header returns the headers of the answer.
func (a *answer) Header() http.Header {
	if a.own != nil {
		return a.own
	}
	return a.w.Header()
}

// WriteHeader begins the answer, or sends a provisional one.
func (a *answer) WriteHeader(status int) {
	if !a.enter() {
		return
	}
	defer a.leave()
	if provisional(status) {
		a.share()
	} else if a.begin(status) != nil {
		return
	}
	a.streams = a.streams || status == http.StatusSwitchingProtocols
	a.w.WriteHeader(status)
}

// provisional reports whether a final answer follows one with status.
func provisional(status int) bool {
	return status >= 100 && status < 200 && status != http.StatusSwitchingProtocols
}

// Write writes a piece of the answer.
func (a *answer) Write(p []byte) (int, error) {
	if !a.enter() {
		return 0, http.ErrHandlerTimeout
	}
	defer a.leave()
	if err := a.begin(http.StatusOK); err != nil {
		return 0, err
	}
	return a.w.Write(p)
}

// WriteString writes a piece of the answer.
func (a *answer) WriteString(s string) (int, error) {
	if !a.enter() {
		return 0, http.ErrHandlerTimeout
	}
	defer a.leave()
	if err := a.begin(http.StatusOK); err != nil {
		return 0, err
	}
	return io.WriteString(a.w, s)
}

// ReadFrom writes what it reads from src. Once the answer has begun, net/http
// may let the kernel copy it.
func (a *answer) ReadFrom(src io.Reader) (n int64, err error) {
	below, ok := a.w.(io.ReaderFrom)
	if a.own != nil || !ok { // the lock is for one write at a time
		return io.Copy(onlyWriter{a}, src)
	}
	if a.status == 0 {
		const first = 512 // what net/http looks at for the type of the content
		n, err = io.Copy(onlyWriter{a}, io.LimitReader(src, first))
		if n < first || err != nil {
			return n, err
		}
	}
	more, err := below.ReadFrom(src)
	return n + more, err
}

// onlyWriter hides every other method.
type onlyWriter struct{ io.Writer }

// Flush sends what was written so far.
func (a *answer) Flush() { _ = a.FlushError() }

// FlushError sends what was written so far.
func (a *answer) FlushError() error {
	return a.control(func(c *http.ResponseController) error {
		if err := a.begin(http.StatusOK); err != nil {
			return err
		}
		a.streams = true
		return c.Flush()
	})
}

// Hijack takes over the connection.
func (a *answer) Hijack() (conn net.Conn, rw *bufio.ReadWriter, err error) {
	err = a.control(func(c *http.ResponseController) error {
		conn, rw, err = c.Hijack()
		if err != nil {
			return err
		}
		late := a.begin(http.StatusSwitchingProtocols)
		a.status, a.streams = http.StatusSwitchingProtocols, true
		if late != nil {
			_ = conn.Close()
		}
		return late
	})
	return conn, rw, err
}

// SetReadDeadline bounds the reading of the request.
func (a *answer) SetReadDeadline(end time.Time) error {
	return a.bound(func(c *http.ResponseController) error { return c.SetReadDeadline(end) })
}

// SetWriteDeadline bounds the writing of the answer.
func (a *answer) SetWriteDeadline(end time.Time) error {
	return a.bound(func(c *http.ResponseController) error { return c.SetWriteDeadline(end) })
}

// bound sets a deadline of the connection. It does not wait for a write that
// waits for the network, since it may be what ends that.
func (a *answer) bound(set func(*http.ResponseController) error) error {
	if a.own != nil {
		a.parting.Lock()
		defer a.parting.Unlock()
		if a.left {
			return http.ErrHandlerTimeout
		}
	}
	return set(http.NewResponseController(a.w))
}

// EnableFullDuplex lets the handler read on while it writes.
func (a *answer) EnableFullDuplex() error {
	return a.control((*http.ResponseController).EnableFullDuplex)
}

// control does something to the ResponseWriter below.
func (a *answer) control(f func(*http.ResponseController) error) error {
	if !a.enter() {
		return http.ErrHandlerTimeout
	}
	defer a.leave()
	return f(http.NewResponseController(a.w))
}

// begun reports whether the final answer has begun.
func (a *answer) begun() bool {
	if a.own != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
	}
	return a.status != 0
}

// noteKey notes that the answer is kept for a key.
func (a *answer) noteKey(key string) {
	if a.enter() {
		a.keyed = key != ""
		a.leave()
	}
}

// abandon leaves the handler behind, if it still runs, and reports whether its
// answer has begun, and whether it is kept.
func (a *answer) abandon() (begun, keyed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.part()
	return a.status != 0, a.keyed
}

// part leaves the handler behind. The caller holds mu.
func (a *answer) part() {
	a.parting.Lock()
	defer a.parting.Unlock()
	a.left = true
}

// finish completes the answer of a handler that has returned in time: an empty
// one where it wrote nothing, trailers where it left them in its headers.
func (a *answer) finish() {
	if a.own == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.part() // from goroutines that the handler has forgotten
	if a.status == 0 {
		a.share()
		return
	}
	maps.Copy(a.w.Header(), a.own)
}

// reset takes back what the handler has put into the headers.
func (a *answer) reset() {
	h := a.w.Header()
	clear(h)
	maps.Copy(h, a.outer)
}
