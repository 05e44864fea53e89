package otel_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	apitrace "go.opentelemetry.io/otel/trace"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
)

// shop is a server that answers its n-th request with the n-th status, and the
// last for all further ones. It makes spans as otelhttp does.
func shop(t *testing.T, s *service, statuses ...int) *httptest.Server {
	var requests atomic.Int64
	tracer := s.tracers.Tracer("shop")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := carrier.Extract(req.Context(), propagation.HeaderCarrier(req.Header))
		_, span := tracer.Start(ctx, "GET /", apitrace.WithSpanKind(apitrace.SpanKindServer))
		defer span.End()
		n := min(int(requests.Add(1)), len(statuses))
		w.WriteHeader(statuses[n-1])
		_, _ = io.WriteString(w, "soup")
	}))
	t.Cleanup(server.Close)
	return server
}

// client returns an http.Client of the service with the policies of target.
func (s *service) client(t *testing.T, target middleware.Target) (*http.Client, *httpmw.Transport) {
	t.Helper()
	o := s.observer(t)
	transport, err := httpmw.NewTransport(o.Transport(&http.Transport{}), target, httpmw.WithObserver(o))
	if err != nil {
		t.Fatal(err)
	}
	o.Watch(transport.Pipelines())
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := transport.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &http.Client{Transport: transport}, transport
}

func get(ctx context.Context, client *http.Client, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// standard returns the preset for the shop, which does not wait.
func standard() middleware.Target {
	target := middleware.Standard("shop")
	target.Retry = &retry.Config{Base: retry.NoWait}
	return target
}

// Acceptance case C62.
func TestC62_ATraceOverHTTPIsOneTree(t *testing.T) {
	c := newCollector(t)
	buyer, seller := newService(t, c, "buyer"), newService(t, c, "seller")
	server := shop(t, seller, 503, 503, 200)
	client, _ := buyer.client(t, standard())

	ctx, root := buyer.tracers.Tracer("buyer").Start(t.Context(), "buy soup")
	status, err := get(ctx, client, server.URL+"/soup?size=large")
	root.End()
	if err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	server.Close() // its spans have ended
	buyer.flush(t)
	seller.flush(t)

	call := c.under(t, c.under(t, "", 1)[0].id(), 1)[0]
	if call.GetKind() != trace.Span_SPAN_KIND_INTERNAL || call.GetName() != "call shop" {
		t.Errorf("the call is %v %q", call.GetKind(), call.GetName())
	}
	if call.GetStatus().GetCode() != trace.Status_STATUS_CODE_UNSET || call.attr("backstay.outcome") != "success" {
		t.Errorf("it ended %v, %v", call.GetStatus(), call.GetAttributes())
	}
	for i, attempt := range c.under(t, call.id(), 3) {
		checkAttempt(t, attempt, i, server.URL)
		served := c.under(t, attempt.id(), 1)[0]
		if served.GetKind() != trace.Span_SPAN_KIND_SERVER || served.service != "seller" {
			t.Errorf("under attempt %d is %v of %s", i+1, served.GetKind(), served.service)
		}
	}
}

// checkAttempt checks the span of attempt i, from 0, of 503, 503, 200.
func checkAttempt(t *testing.T, s *span, i int, url string) {
	t.Helper()
	if s.GetKind() != trace.Span_SPAN_KIND_CLIENT || s.GetName() != http.MethodGet {
		t.Errorf("attempt %d is %v %q", i+1, s.GetKind(), s.GetName())
	}
	resent, status, end := []string{"", "1", "2"}[i], []string{"503", "503", "200"}[i], trace.Status_STATUS_CODE_ERROR
	if status == "200" {
		end = trace.Status_STATUS_CODE_UNSET
	}
	for name, want := range map[string]string{
		"http.request.resend_count": resent, "http.response.status_code": status, "http.request.method": "GET",
		"url.full": url + "/soup?size=large", "server.address": "127.0.0.1", "server.port": url[strings.LastIndex(url, ":")+1:],
		"backstay.attempt": strconv.Itoa(i + 1), "backstay.policy": "shop",
	} {
		if got := s.attr(name); got != want {
			t.Errorf("attempt %d has %s %q, want %q", i+1, name, got, want)
		}
	}
	if s.GetStatus().GetCode() != end {
		t.Errorf("attempt %d ended %v", i+1, s.GetStatus())
	}
}

// Acceptance case C49.
func TestC49_RefusalsAreCountedOnceEach(t *testing.T) {
	c := newCollector(t)
	buyer, seller := newService(t, c, "buyer"), newService(t, c, "seller")
	server := shop(t, seller, 200)
	client, transport := buyer.client(t, standard())
	if _, err := get(t.Context(), client, server.URL); err != nil {
		t.Fatal(err)
	}
	for _, p := range transport.Pipelines().All {
		p.Breaker().ForceOpen()
	}
	for range 5 {
		if _, err := get(t.Context(), client, server.URL); !errors.Is(err, backstay.ErrRejected) {
			t.Fatal(err)
		}
	}
	buyer.flush(t)

	host := "backstay.key=" + strings.TrimPrefix(server.URL, "http://")
	for name, want := range map[string]int64{"backstay.calls": 6, "backstay.attempts": 1, "backstay.rejections": 5, "backstay.retries": 0} {
		if got := c.total(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
		if want > 0 && c.total(name, host, "backstay.policy=shop") != want {
			t.Errorf("%s does not name %s", name, host)
		}
	}
	if got := c.total("backstay.rejections", "backstay.reason=breaker_open"); got != 5 {
		t.Errorf("%d were refused by the breaker", got)
	}
	for state, want := range map[string]float64{"forced-open": 1, "closed": 0} {
		if got, ok := c.gauge("backstay.breaker.state", host, "backstay.state="+state); !ok || got != want {
			t.Errorf("the state %s is %v (told: %v), want %v", state, got, ok, want)
		}
	}
	if n := c.total("backstay.breaker.transitions", "backstay.to=forced-open", "backstay.cause=manual"); n != 1 {
		t.Errorf("%d transitions", n)
	}
}
