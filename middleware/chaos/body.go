package chaos

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// body is the body of a response that does not get to its end. It may be
// closed while it is read, once or again, which wakes the Read.
type body struct {
	from io.ReadCloser
	left int64 // how much comes through before the end
	// end is asked at the end, and may wait; nil lets the body go on. A body
	// without one goes on.
	end func() error
	err error // what end said

	once   sync.Once
	closed chan struct{}
}

// Read reads on, and where the body has its end, says what that is.
func (b *body) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	default:
	}
	switch {
	case b.err != nil:
		return 0, b.err
	case b.end == nil:
		return b.from.Read(p)
	case b.left == 0:
		return b.ended(p)
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if errors.Is(err, io.EOF) { // shorter than the fault: it ends in it as well
		b.left, err = 0, nil
	}
	return n, err
}

// ended reads on at the end.
func (b *body) ended(p []byte) (int, error) {
	if b.err = b.end(); b.err != nil {
		return 0, b.err
	}
	b.end = nil
	return b.from.Read(p)
}

// Close closes the body. It may be called again.
func (b *body) Close() (err error) {
	b.once.Do(func() {
		close(b.closed)
		err = b.from.Close()
	})
	return err
}
