package httpmwtest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// response is the answer of s to req.
func (s Step) response(req *http.Request) *http.Response {
	header := s.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		Status: strconv.Itoa(s.status) + " " + http.StatusText(s.status), StatusCode: s.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Request: req, ContentLength: int64(len(s.body)), Body: s.bodyFor(req),
	}
}

// bodyFor returns the body of the answer to req, which a HEAD has none of.
func (s Step) bodyFor(req *http.Request) io.ReadCloser {
	if req.Method == http.MethodHead || s.body == "" && s.stall == 0 && !s.lost {
		return http.NoBody
	}
	return &stream{
		req: req, rest: strings.NewReader(s.body), stall: s.stall, lost: s.lost, closed: make(chan struct{}),
	}
}

// stream is a response body that ends with the request's context, and may fall
// silent or break off before its last byte.
type stream struct {
	req    *http.Request
	rest   *strings.Reader
	stall  time.Duration
	lost   bool
	once   sync.Once
	closed chan struct{}
}

func (b *stream) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	case <-b.req.Context().Done():
		return 0, b.req.Context().Err()
	default:
	}
	if (b.stall > 0 || b.lost) && b.rest.Len() > 1 {
		return b.rest.Read(p[:min(len(p), b.rest.Len()-1)])
	}
	if err := sleep(b.req, b.stall, b.closed); err != nil {
		return 0, err
	}
	b.stall = 0
	if b.lost {
		return 0, io.ErrUnexpectedEOF
	}
	return b.rest.Read(p)
}

// Close wakes a Read that waits.
func (b *stream) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}
