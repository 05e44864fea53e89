package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// These tests show what docs/adr/0014-connect.md says.

// backend is a Connect service whose unary procedure fails while failures are
// left.
type backend struct {
	url      string
	network  *http.Transport
	code     connect.Code
	failures atomic.Int32
	calls    atomic.Int32
}

// serve runs the backend, over HTTP/2 if that is asked for, behind what wrap
// puts in front of it; nil puts nothing.
func serve(t *testing.T, code connect.Code, failures int32, http2 bool, wrap func(http.Handler) http.Handler) *backend {
	t.Helper()
	b := &backend{code: code}
	b.failures.Store(failures)
	mux := http.NewServeMux()
	mux.Handle(price, connect.NewUnaryHandler(price, b.say, connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
	mux.Handle(order, connect.NewServerStreamHandler(order, b.list))
	var h http.Handler = mux
	if wrap != nil {
		h = wrap(mux)
	}
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = http2
	if http2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	b.url, b.network = server.URL, server.Client().Transport.(*http.Transport)
	t.Cleanup(server.Close)
	return b
}

func (b *backend) say(_ context.Context, req *connect.Request[text]) (*connect.Response[text], error) {
	b.calls.Add(1)
	if b.failures.Add(-1) >= 0 {
		return nil, b.failure()
	}
	return connect.NewResponse(wrapperspb.String(strings.ToUpper(req.Msg.GetValue()))), nil
}

func (b *backend) failure() error {
	err := connect.NewError(b.code, errors.New("not now"))
	detail, _ := connect.NewErrorDetail(durationpb.New(time.Minute))
	err.AddDetail(detail)
	return err
}

func (b *backend) list(_ context.Context, _ *connect.Request[text], s *connect.ServerStream[text]) error {
	b.calls.Add(1)
	for _, part := range []string{"a", "b"} {
		if err := s.Send(wrapperspb.String(part)); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	if b.failures.Add(-1) >= 0 {
		return b.failure()
	}
	return nil
}

// under returns the backend's transport under the policies of target.
func (b *backend) under(t *testing.T, target middleware.Target) *httpmw.Transport {
	t.Helper()
	transport, err := httpmw.NewTransport(b.network, target)
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func (b *backend) client(t *testing.T, target middleware.Target, options ...connect.ClientOption) *connect.Client[text, text] {
	t.Helper()
	return connect.NewClient[text, text](&http.Client{Transport: b.under(t, target)}, b.url+price, options...)
}

func retrying() middleware.Target {
	return middleware.Target{Config: middleware.Config{Retry: &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}}}
}

func ask(ctx context.Context, c *connect.Client[text, text], s string) (string, error) {
	r, err := c.CallUnary(ctx, connect.NewRequest(wrapperspb.String(s)))
	if err != nil {
		return "", err
	}
	return r.Msg.GetValue(), nil
}

var (
	marked = connect.WithInterceptors(connect.UnaryInterceptorFunc(marks))
	reads  = connect.WithIdempotency(connect.IdempotencyNoSideEffects)
	writes = connect.WithIdempotency(connect.IdempotencyIdempotent)
)

func TestWhatMayBeRepeatedIsWhatTheSchemaSays(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []connect.ClientOption
		calls   int32
	}{
		{"nothing is known", []connect.ClientOption{marked}, 1},
		{"idempotent, and nobody tells", []connect.ClientOption{writes}, 1},
		{"idempotent, marked by the interceptor", []connect.ClientOption{writes, marked}, 3},
		{"a read, sent by GET", []connect.ClientOption{reads, connect.WithHTTPGet()}, 3},
		{"in JSON", []connect.ClientOption{writes, marked, connect.WithProtoJSON()}, 3},
		{"compressed", []connect.ClientOption{writes, marked, connect.WithSendGzip()}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := serve(t, connect.CodeUnavailable, 2, false, nil)
			got, err := ask(t.Context(), b.client(t, retrying(), c.options...), "tea")
			if b.calls.Load() != c.calls || (err == nil) != (c.calls == 3) || (err == nil && got != "TEA") {
				t.Errorf("got %q, %v after %d calls, want %d", got, err, b.calls.Load(), c.calls)
			}
		})
	}
}

func TestTheLastErrorIsTheServersWithItsDetails(t *testing.T) {
	b := serve(t, connect.CodeUnavailable, 9, false, nil)
	ctx, report := backstay.WithReport(t.Context())
	_, err := ask(ctx, b.client(t, retrying(), writes, marked), "tea")
	var e *connect.Error
	if !errors.As(err, &e) || e.Code() != connect.CodeUnavailable || e.Message() != "not now" || len(e.Details()) != 1 {
		t.Errorf("got %v", err)
	}
	if s := report.Summary(); s.Attempts != 3 {
		t.Errorf("the report says %v", s)
	}
}

func TestRefusalsAreConnectErrorsThatStillMatch(t *testing.T) {
	b := serve(t, 0, 0, false, nil)
	target := retrying()
	target.Deadline = &deadline.Config{Need: 5 * time.Second}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := ask(ctx, b.client(t, target), "tea")
	if !errors.Is(err, deadline.ErrTooLate) || !errors.Is(err, backstay.ErrRejected) || b.calls.Load() != 0 {
		t.Errorf("%d calls: %v", b.calls.Load(), err)
	}
}

// The lower layer judges by the status of HTTP, which has fewer words.
func TestCodesAreJudgedByTheirStatus(t *testing.T) {
	for code, class := range map[connect.Code]backstay.Class{
		connect.CodeUnavailable:       backstay.Transient,
		connect.CodeResourceExhausted: backstay.Overload,
		connect.CodeInvalidArgument:   backstay.Permanent,
		connect.CodeNotFound:          backstay.Permanent,
		connect.CodeUnimplemented:     backstay.Fault,
		// Of these the gRPC rules are stricter.
		connect.CodeInternal:         backstay.Transient,
		connect.CodeUnknown:          backstay.Transient,
		connect.CodeDataLoss:         backstay.Transient,
		connect.CodeDeadlineExceeded: backstay.Transient,
	} {
		b := serve(t, code, 9, false, nil)
		ctx, report := backstay.WithReport(t.Context())
		_, err := ask(ctx, b.client(t, middleware.Target{Config: middleware.Config{Breaker: &breaker.Config{}}}), "tea")
		if got := report.Summary().Outcome.Class; got != class || connect.CodeOf(err) != code {
			t.Errorf("%v is judged as %v, want %v; the caller got %v", code, got, class, err)
		}
	}
}

// In the two protocols of gRPC, and in streams, an error comes after the
// status, which is 200.
func TestErrorsThatComeInTrailersAreNotSeen(t *testing.T) {
	for name, protocol := range map[string]connect.ClientOption{"gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb()} {
		b := serve(t, connect.CodeUnavailable, 1, true, nil)
		_, err := ask(t.Context(), b.client(t, retrying(), writes, marked, protocol), "tea")
		if connect.CodeOf(err) != connect.CodeUnavailable || b.calls.Load() != 1 {
			t.Errorf("%s: %d calls: %v", name, b.calls.Load(), err)
		}
	}
}

func TestStreamsPassTheTimeoutByAndTheirErrorsAreNotSeen(t *testing.T) {
	b := serve(t, connect.CodeUnavailable, 1, false, nil)
	target := retrying()
	target.Timeout = &timeout.Config{After: 100 * time.Millisecond}
	c := connect.NewClient[text, text](&http.Client{Transport: b.under(t, target)}, b.url+order)
	s, err := c.CallServerStream(retry.MarkRepeatable(t.Context()), connect.NewRequest(wrapperspb.String("tea")))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s.Receive() {
		n++
	}
	if n != 2 || connect.CodeOf(s.Err()) != connect.CodeUnavailable || b.calls.Load() != 1 {
		t.Errorf("received %d in %d calls: %v", n, b.calls.Load(), s.Err())
	}
}

// What a server's Handler refuses, a Connect client sees by its own mapping of
// statuses, which knows no 422, and takes 504 for unavailable.
func TestWhatTheServerRefusesHasACodeOfConnects(t *testing.T) {
	full := middleware.Server{Bulkhead: &bulkhead.Config{Limit: 1}}
	keyed := middleware.Server{Idempotency: &idempotency.GuardConfig{Required: true}}
	late := middleware.Server{Deadline: &deadline.IncomingConfig{Minimum: 50 * time.Second, Headers: []string{"connect-timeout-ms"}}}
	for _, c := range []struct {
		name   string
		server middleware.Server
		before func(*httpmw.Handler)
		want   connect.Code
	}{
		{"full", full, func(h *httpmw.Handler) { _, _ = h.Bulkhead().Acquire(t.Context(), 1) }, connect.CodeUnavailable},
		{"too late", late, nil, connect.CodeUnavailable},
		{"without a key", keyed, nil, connect.CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
			if err != nil {
				t.Fatal(err)
			}
			b := serve(t, 0, 0, false, func(next http.Handler) http.Handler {
				h, err := httpmw.NewHandler(next, c.server, httpmw.ServerStore(store))
				if err != nil {
					t.Fatal(err)
				}
				if c.before != nil {
					c.before(h)
				}
				return h
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err = ask(ctx, b.client(t, middleware.Target{}), "tea")
			if connect.CodeOf(err) != c.want || b.calls.Load() != 0 {
				t.Errorf("%d calls: %v, want %v", b.calls.Load(), err, c.want)
			}
		})
	}
}

// A request of Connect's makes the same body again, not another one. That does
// for attempts that follow one another.
func TestCopiesOfAPostWouldShareTheirBody(t *testing.T) {
	var same bool
	b := serve(t, 0, 0, false, nil)
	spy := roundTripper(func(req *http.Request) (*http.Response, error) {
		again, err := req.GetBody()
		same = err == nil && again == req.Body
		return b.network.RoundTrip(req)
	})
	c := connect.NewClient[text, text](&http.Client{Transport: spy}, b.url+price)
	if got, err := ask(t.Context(), c, "tea"); got != "TEA" || err != nil || !same {
		t.Errorf("got %q, %v; the same body: %v", got, err, same)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A read by GET has no body, and is hedged as any other.
func TestAReadByGetIsHedged(t *testing.T) {
	var calls atomic.Int32
	b := serve(t, 0, 0, false, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	target := middleware.Target{Config: middleware.Config{Hedge: &hedge.Config{Delay: 5 * time.Millisecond}}}
	if got, err := ask(t.Context(), b.client(t, target, reads, connect.WithHTTPGet()), "tea"); got != "TEA" || err != nil || calls.Load() != 2 {
		t.Errorf("got %q, %v after %d calls", got, err, calls.Load())
	}
}

// Why there are no interceptors: what a repetition would need of a Request it
// cannot have.
func TestAnAttemptCannotHaveARequestOfItsOwn(t *testing.T) {
	b := serve(t, 0, 0, false, nil)
	shared := false
	again := func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			bounded, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if _, err := next(bounded, req); err != nil {
				return nil, err
			}
			_, left := req.Header()["Connect-Timeout-Ms"] // of the first, in the header of the second
			copied := connect.NewRequest(req.Any().(*text))
			shared = left && copied.Spec().Procedure == "" // and the copy has no Spec
			return next(ctx, req)
		}
	}
	c := b.client(t, middleware.Target{}, connect.WithInterceptors(connect.UnaryInterceptorFunc(again)))
	if _, err := ask(t.Context(), c, "tea"); err != nil || !shared {
		t.Errorf("shared: %v, %v", shared, err)
	}
}
