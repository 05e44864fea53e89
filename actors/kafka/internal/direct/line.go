package direct

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"
)

// line is a connection after its handshake. Either side gives a sign of life
// when it has been silent, and gives the other up that does not.
type line struct {
	conn net.Conn // what is spoken through
	raw  net.Conn // the one below TLS, which closes at once
	lost func(Letter)
	sent func(letters int)
	done chan struct{}
	wake chan struct{}

	buffer []byte // of the writer

	mu    sync.Mutex
	queue []Letter
	bytes int // of the queue, and of what is being written
	cause error
}

const (
	// pulse is the interval of signs of life.
	pulse = time.Second
	// silence is after what time without any the other side is given up, and
	// how long a write may take.
	silence = 4 * time.Second
	// queueBytes bounds what waits for one client.
	queueBytes = 1 << 20
	// writeBytes is about how much is written at once.
	writeBytes = 64 << 10
)

func newLine(conn, raw net.Conn) *line {
	return &line{
		conn: conn, raw: raw, done: make(chan struct{}), wake: make(chan struct{}, 1),
		lost: func(Letter) {}, sent: func(int) {},
	}
}

// offer has a letter sent, and reports false if there is no room for it, or no
// connection any more. It does not wait.
func (l *line) offer(m Letter) bool {
	l.mu.Lock()
	if l.cause != nil || l.bytes > 0 && l.bytes+m.size() > queueBytes {
		l.mu.Unlock()
		return false
	}
	l.bytes += m.size()
	l.queue = append(l.queue, m)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it is awake
	}
	return true
}

// run speaks and listens until one of both fails, or end is called, and says
// why.
func (l *line) run(largest int, take func(*Letter) error) error {
	var writer sync.WaitGroup
	writer.Go(l.write)
	l.end(l.listen(largest, take))
	writer.Wait()
	return l.cause
}

// end closes the connection. The first cause counts.
func (l *line) end(cause error) {
	l.mu.Lock()
	first := l.cause == nil
	if first {
		l.cause = cause
	}
	l.mu.Unlock()
	if first {
		close(l.done)
		_ = l.raw.Close() // nothing depends on it
	}
}

// listen takes letters until there can be no more.
func (l *line) listen(largest int, take func(*Letter) error) error {
	in := frames{from: bufio.NewReader(timely{l.conn}), largest: largest}
	for {
		m, err := in.next()
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if err := take(m); err != nil {
			return err
		}
	}
}

// timely is a connection that may not be silent for too long.
type timely struct{ net.Conn }

func (t timely) Read(p []byte) (int, error) {
	_ = t.SetReadDeadline(time.Now().Add(silence)) // what fails is told by the read
	return t.Conn.Read(p)
}

// write sends until it fails or the line ends. What may not have arrived then is
// lost here: half a frame may be out, so nothing may follow it.
func (l *line) write() {
	rest, err := l.speak()
	l.end(err)
	for _, m := range append(rest, l.next()...) {
		l.lost(m)
	}
}

// speak sends what is offered, and signs of life, and returns in the end what
// may not be out.
func (l *line) speak() (rest []Letter, err error) {
	every := time.NewTicker(pulse)
	defer every.Stop()
	for {
		select {
		case <-l.wake:
		case <-every.C:
		case <-l.done:
			return nil, errGone
		}
		if rest, err := l.send(l.next()); err != nil {
			return rest, fmt.Errorf("writing: %w", err)
		}
	}
}

// next takes the queue.
func (l *line) next() []Letter {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.queue
	l.queue = nil
	return batch
}

// send writes letters, or a sign of life where there are none, and returns
// those that may not be out.
func (l *line) send(batch []Letter) (rest []Letter, err error) {
	if len(batch) == 0 {
		return nil, l.put(appendSign(l.buffer[:0]))
	}
	for len(batch) > 0 {
		n, buffer := 0, l.buffer[:0]
		for n < len(batch) && (n == 0 || len(buffer)+batch[n].size() <= writeBytes) {
			buffer = appendFrame(buffer, &batch[n])
			n++
		}
		if err := l.put(buffer); err != nil {
			return batch, err
		}
		l.mu.Lock()
		l.bytes -= len(buffer)
		l.mu.Unlock()
		l.sent(n)
		batch = batch[n:]
	}
	return nil, nil
}

// put writes all of it, or the line has to end.
func (l *line) put(buffer []byte) error {
	if cap(buffer) <= writeBytes {
		l.buffer = buffer
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(silence)) // what fails is told by the write
	_, err := l.conn.Write(buffer)
	return err
}
