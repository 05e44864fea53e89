package httpmw_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/timeout"
)

func TestClassifyAnswers(t *testing.T) {
	final, unsent := backstay.Marks{Final: true}, backstay.Marks{Unsent: true}
	class := func(c backstay.Class) backstay.Outcome { return backstay.Outcome{Class: c} }
	for _, c := range []struct {
		status int
		header string // "Name: value"
		want   backstay.Outcome
	}{
		{101, "", class(backstay.Success)}, {200, "", class(backstay.Success)}, {204, "", class(backstay.Success)},
		{302, "", class(backstay.Success)}, {304, "", class(backstay.Success)}, {200, "Retry-After: 5", class(backstay.Success)},
		{400, "", class(backstay.Permanent)}, {401, "", class(backstay.Permanent)}, {404, "", class(backstay.Permanent)},
		{409, "", class(backstay.Permanent)}, {422, "", class(backstay.Permanent)}, {499, "", class(backstay.Permanent)},
		{408, "", class(backstay.Transient)}, {425, "", class(backstay.Transient)},
		{429, "", class(backstay.Overload)},
		{429, "Retry-After: 5", backstay.Outcome{Class: backstay.Overload, RetryAfter: 5 * time.Second}},
		{500, "", class(backstay.Transient)}, {502, "", class(backstay.Transient)}, {503, "", class(backstay.Transient)},
		{504, "", class(backstay.Transient)}, {520, "", class(backstay.Transient)}, {599, "", class(backstay.Transient)},
		{501, "", class(backstay.Fault)}, {505, "", class(backstay.Fault)},
		{503, "Retry-After: 5", backstay.Outcome{Class: backstay.Overload, RetryAfter: 5 * time.Second}},
		{503, "Retry-After: soon", class(backstay.Transient)},
		{503, "X-Envoy-Overloaded: true", class(backstay.Overload)},
		{503, `RateLimit: "default";r=0;t=7`, backstay.Outcome{Class: backstay.Overload, RetryAfter: 7 * time.Second}},
		{500, "Retry-After: 5", backstay.Outcome{Class: backstay.Transient, RetryAfter: 5 * time.Second}},
		{503, "X-Backstay-Retry: never", backstay.Outcome{Class: backstay.Transient, Marks: final}},
		{429, "X-Envoy-Ratelimited: ", backstay.Outcome{Class: backstay.Overload, Marks: final}},
		{502, "L5d-Retryable: true", backstay.Outcome{Class: backstay.Transient, Marks: unsent}},
	} {
		resp := answer(nil, c.status)
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			resp.Header.Set(name, value)
		}
		if got := httpmw.Classify(resp, nil); got != c.want {
			t.Errorf("%d with %q: %+v, want %+v", c.status, c.header, got, c.want)
		}
	}
}

func TestClassifyErrors(t *testing.T) {
	transient := backstay.Outcome{Class: backstay.Transient}
	unsent := backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Unsent: true}}
	for _, c := range []struct {
		name string
		err  error
		want backstay.Outcome
	}{
		{"a reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, transient},
		{"an end in mid-answer", io.ErrUnexpectedEOF, transient},
		{"an end before the answer", io.EOF, transient},
		{"a broken pipe", &net.OpError{Op: "write", Err: syscall.EPIPE}, transient},
		{"a timeout of one attempt", &timeout.Error{After: time.Second}, transient},
		{"a refused connection", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, unsent},
		{"a host that cannot be reached", &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, unsent},
		{"a name that does not resolve", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "x.test", IsNotFound: true}}, unsent},
		{"a proxy that does not resolve", &net.OpError{Op: "proxyconnect", Err: &net.DNSError{Name: "x.test"}}, unsent},
		{"a certificate that does not hold", &tls.CertificateVerificationError{Err: errors.New("unknown authority")}, backstay.Outcome{Class: backstay.Permanent}},
		{"a cancellation", context.Canceled, backstay.Outcome{Class: backstay.Canceled}},
		{"a refusal of another pipeline", backstay.ErrRejected, backstay.Outcome{Class: backstay.Rejected}},
		{"an error that knows itself", backstay.PermanentError(io.EOF), backstay.Outcome{Class: backstay.Permanent}},
	} {
		for _, err := range []error{c.err, fmt.Errorf("wrapped: %w", c.err), &url.Error{Op: "Get", URL: "http://x.test/", Err: c.err}} {
			if got := httpmw.Classify(nil, err); got != c.want {
				t.Errorf("%s: %v is judged %+v, want %+v", c.name, err, got, c.want)
			}
		}
	}
}

func TestAClassifierOverrulesEveryPolicy(t *testing.T) {
	backend := httpmwtest.Script(httpmwtest.Status(404), httpmwtest.Reset(), httpmwtest.Status(200))
	var asked []backstay.Class
	tr := transport(t, backend, retries(), httpmw.WithClassifier(func(resp *http.Response, err error, o backstay.Outcome) backstay.Outcome {
		if asked = append(asked, o.Class); resp != nil && resp.StatusCode == 404 {
			return backstay.Outcome{Class: backstay.Transient} // not replicated yet
		}
		return o
	}))
	if resp, err := get(t, context.Background(), tr); err != nil || resp.StatusCode != 200 {
		t.Error(resp, err)
	}
	backend.Want(t, 3)
	if asked[0] != backstay.Permanent || asked[len(asked)-1] != backstay.Success {
		t.Errorf("asked about %v", asked)
	}
}

func TestACertificateThatDoesNotHoldIsNotTriedAgain(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it says that its client does not trust it
	s.StartTLS()
	defer s.Close()
	base := speaking(false)
	defer base.CloseIdleConnections()
	ctx, report := backstay.WithReport(context.Background())
	_, err := transport(t, base, patient(retries())).RoundTrip(request(t, ctx, http.MethodGet, s.URL, nil))
	if r := report.Summary(); err == nil || r.Attempts != 1 || r.Outcome.Class != backstay.Permanent {
		t.Errorf("%v; %v", err, report)
	}
}

// refusing is an HTTP/2 server that refuses every stream before it looks at it.
// It reads while it writes, since its client may do the same.
func refusing(conn net.Conn) {
	defer conn.Close()
	frames := make(chan []byte, 100)
	defer close(frames)
	go func() {
		for frame := range frames {
			_, _ = conn.Write(frame)
		}
	}()
	frames <- []byte{0, 0, 0, 4, 0, 0, 0, 0, 0} // SETTINGS
	if _, err := io.CopyN(io.Discard, conn, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	const headers, reset, refused = 1, 3, 7
	var frame [9]byte
	for {
		if _, err := io.ReadFull(conn, frame[:]); err != nil {
			return
		}
		length := int64(frame[0])<<16 | int64(frame[1])<<8 | int64(frame[2])
		if _, err := io.CopyN(io.Discard, conn, length); err != nil {
			return
		}
		if frame[3] == headers {
			answer := append([]byte{0, 0, 4, reset, 0}, frame[5:]...)
			frames <- binary.BigEndian.AppendUint32(answer, refused)
		}
	}
}

func TestAStreamThatTheServerRefusedWasNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := speaking(true)
		base.DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go refusing(far)
			return near, nil
		}
		defer base.CloseIdleConnections()
		req := request(t, context.Background(), http.MethodPost, "http://x.test/", nil)
		_, err := transport(t, base, only("test")).RoundTrip(req)
		if o := httpmw.Classify(nil, err); err == nil || o.Class != backstay.Transient || !o.Unsent {
			t.Errorf("%v is judged %+v", err, o)
		}
	})
}
