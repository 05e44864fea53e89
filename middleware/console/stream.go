package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// slow is how long a watcher may take to read one event. Who takes longer is
// dropped: the page comes back by itself.
const slow = 10 * time.Second

// events streams the state, one event an interval, for as long as the watcher
// stays. It runs on the request's own goroutine, and all watchers share their
// looks at the pipelines.
func (c *Console) events(w http.ResponseWriter, req *http.Request) {
	q, err := parseQuery(req.URL.Query())
	if err != nil {
		http.Error(w, "console: "+err.Error(), http.StatusBadRequest)
		return
	}
	if req.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return
	}
	if !c.watchers.join() {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "console: too many watch already; ask for state.json instead", http.StatusServiceUnavailable)
		return
	}
	defer c.left()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies that collect answers must not
	s := stream{writer: w, control: http.NewResponseController(w)}
	if err := s.control.Flush(); errors.Is(err, http.ErrNotSupported) {
		http.Error(w, "console: this server cannot stream; ask for state.json instead", http.StatusNotImplemented)
		return
	}
	c.watch(&s, req, q)
}

// watch sends the state until the watcher is gone, too slow, or sent away.
func (c *Console) watch(s *stream, req *http.Request, q query) {
	may := c.guard.Permits(req)
	ticker := time.NewTicker(c.config.Interval)
	defer ticker.Stop()
	for {
		if err := s.send(c.state(q, may)); err != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-req.Context().Done():
			return
		case <-c.watchers.closing:
			return
		}
	}
}

// left lets a watcher go. After the last one nothing is kept.
func (c *Console) left() {
	if c.watchers.leave() {
		c.stale()
	}
}

// stale makes the next one who asks look anew.
func (c *Console) stale() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sample = nil
}

// stream is one answer that goes on.
type stream struct {
	writer  http.ResponseWriter
	control *http.ResponseController
}

// send writes one event, unless the watcher is too slow to take it.
func (s *stream) send(st State) error {
	text, err := json.Marshal(st)
	if err != nil {
		return err
	}
	// A server's own WriteTimeout is for answers that end: it is put off.
	err = s.control.SetWriteDeadline(time.Now().Add(slow))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, part := range [][]byte{[]byte("data: "), text, []byte("\n\n")} {
		if _, err := s.writer.Write(part); err != nil {
			return err
		}
	}
	return s.control.Flush()
}
