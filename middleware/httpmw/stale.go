package httpmw

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
)

// DefaultMaxStaleBody is the longest answer that [StaleCache] keeps.
const DefaultMaxStaleBody = 1 << 20

// StaleCache describes a fallback that answers with the last good response to
// the same request. It is a net for bad days, not an HTTP cache: every request
// is sent as long as the backend answers. How long and how many answers are
// kept is set in the target's fallback section. An answer from it tells its age
// in the Age header, and the report says that it is degraded.
type StaleCache struct {
	// Key tells which requests share an answer; it must name everything that
	// the answer depends on, the tenant or user included. "" keeps a request
	// out. nil means [AnonymousKey].
	Key func(*http.Request) string
	// MaxBody is the longest body that is kept, in bytes. 0 means 1 MiB.
	MaxBody int64
	// Refresh sends the request once more in the background when a stale
	// answer was served, through the same policies.
	Refresh bool
}

func (c StaleCache) validate() error {
	return backstay.Check(backstay.Setting{
		Path: "max_body", Value: c.MaxBody, Valid: c.MaxBody >= 0,
		Allowed: "must not be negative; 0 means 1 MiB",
	})
}

// AnonymousKey is the URL, and the Host where it is another, of a GET request
// without a body that carries neither Authorization nor Cookie, and empty for
// any other: answers that may be meant for one user are not shared.
func AnonymousKey(req *http.Request) string {
	if (req.Method != "" && req.Method != http.MethodGet) || (req.Body != nil && req.Body != http.NoBody) {
		return ""
	}
	if req.Header.Get("Authorization") != "" || req.Header.Get("Cookie") != "" || req.Header.Get("Range") != "" {
		return ""
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return req.Host + " " + req.URL.String()
	}
	return req.URL.String()
}

// rung returns the rung that c describes for t.
func (c StaleCache) rung(t *Transport) Rung {
	key := c.Key
	if key == nil {
		key = AnonymousKey
	}
	limit := cmp.Or(c.MaxBody, DefaultMaxStaleBody)
	cache := fallback.Cache[*http.Request, *http.Response, *snapshot]{
		Key: func(_ context.Context, req *http.Request) string { return key(req) },
		Save: func(_ context.Context, req *http.Request, resp *http.Response, keep func(*snapshot)) *http.Response {
			return record(req, resp, limit, keep)
		},
		Load: func(_ context.Context, req *http.Request, s *snapshot, age time.Duration) (*http.Response, error) {
			return s.response(req, age)
		},
	}
	if c.Refresh {
		cache.Refresh = t.refresh
	}
	return cache.Rung()
}

// refresh sends req through its pipeline again, without fallbacks.
func (t *Transport) refresh(ctx context.Context, req *http.Request) (*http.Response, error) {
	p := t.pipelines.Get(t.keyOf(req), backstay.Now())
	return middleware.Run(ctx, p, nil, t.plain, req, t.send)
}

// snapshot is a response as it is kept.
type snapshot struct {
	status  int
	proto   string
	major   int
	minor   int
	header  http.Header
	trailer http.Header
	vary    http.Header // those of the request on which the answer depends
	body    []byte
}

// errVaries is how the rung fails where what is kept answers another request.
var errVaries = errors.New("what is kept depends on headers that this request has otherwise")

// response makes a response to req from the snapshot. Its age counts from when
// a server made it, which may have been a cache behind the one that was asked.
func (s *snapshot) response(req *http.Request, age time.Duration) (*http.Response, error) {
	for name, values := range s.vary {
		if !slices.Equal(req.Header[name], values) {
			return nil, errVaries
		}
	}
	h := s.header.Clone()
	before, _ := strconv.ParseUint(h.Get("Age"), 10, 31)
	h.Set("Age", strconv.FormatInt(int64(before)+int64(age/time.Second), 10))
	return &http.Response{
		Status: strconv.Itoa(s.status) + " " + http.StatusText(s.status), StatusCode: s.status,
		Proto: s.proto, ProtoMajor: s.major, ProtoMinor: s.minor,
		Header: h, Trailer: s.trailer.Clone(), Request: req,
		Body: io.NopCloser(bytes.NewReader(s.body)), ContentLength: int64(len(s.body)),
	}, nil
}

// record returns resp, the answer to req, with a body that is kept once it has
// been read to its end, unless it is longer than limit or the server forbids
// storing it.
func record(req *http.Request, resp *http.Response, limit int64, keep func(*snapshot)) *http.Response {
	if resp.StatusCode != http.StatusOK || resp.Body == nil || resp.ContentLength > limit || noStore(resp.Header) {
		return resp
	}
	resp.Body = &recorder{
		ReadCloser: resp.Body, resp: resp, limit: limit, keep: keep,
		header: shareable(resp.Header), vary: varying(req, resp),
	}
	return resp
}

// shareable returns what of h may be given to others than its first reader,
// whom a cookie would name.
func shareable(h http.Header) http.Header {
	h = h.Clone()
	h.Del("Set-Cookie")
	return h
}

// varying returns the headers of req on which resp depends.
func varying(req *http.Request, resp *http.Response) http.Header {
	var h http.Header
	for _, v := range resp.Header["Vary"] {
		for name := range strings.SplitSeq(v, ",") {
			if h == nil {
				h = make(http.Header)
			}
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			h[name] = slices.Clone(req.Header[name])
		}
	}
	return h
}

// recorder is a response body that remembers what is read of it.
type recorder struct {
	io.ReadCloser
	resp   *http.Response
	header http.Header // as it came: the caller may change its own
	vary   http.Header
	limit  int64
	keep   func(*snapshot) // nil once it was called, or will not be
	buf    bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.keep == nil {
		return n, err
	}
	if int64(r.buf.Len()+n) > r.limit {
		r.keep, r.buf = nil, bytes.Buffer{}
		return n, err
	}
	r.buf.Write(p[:n])
	if err == io.EOF {
		r.keep(&snapshot{
			status: r.resp.StatusCode, proto: r.resp.Proto, major: r.resp.ProtoMajor, minor: r.resp.ProtoMinor,
			header: r.header, trailer: r.resp.Trailer.Clone(), vary: r.vary, body: r.buf.Bytes(),
		})
		r.keep = nil
	}
	return n, err
}

// noStore reports whether the server forbids keeping the answer, or keeping it
// for anybody but its first reader, or says that it depends on more than the
// request.
func noStore(h http.Header) bool {
	if slices.Contains(h["Vary"], "*") {
		return true
	}
	for _, v := range h["Cache-Control"] {
		for directive := range strings.SplitSeq(v, ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(directive), "=")
			if strings.EqualFold(name, "no-store") || strings.EqualFold(name, "private") {
				return true
			}
		}
	}
	return false
}
